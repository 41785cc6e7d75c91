// theses_of() of findings.h.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

#include "apps/cli/lists.h"
#include "apps/eval/results.h"
#include "apps/sweep/findings.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// Numbers of a finding, told as a range for each text: of its items with this part in their text,
// among those that are asked at this scale or those of the printed statement, which are of all
// texts.
struct Range {
  const char *claim, *item, *told;
  bool is_printed = false;
};
struct Told {
  const char *paper, *thesis;
  std::vector<const char*> claims;
  std::vector<Range> ranges;
};

const std::vector<Told>& told() {
  static const std::vector<Told> all = {
      {"Sandwich",
       "a windowed model extrapolates if its empirical receptive field (ERF) fits into the "
       "training length",
       {"S-T1-1", "S-T1-2", "S-F4-3"},
       {{"S-T1-1", "PPL 16 L / PPL L", "field below L, PPL 16 L / PPL L"},
        {"S-T1-2", "PPL 2 L / PPL L", "field beyond L, PPL 2 L / PPL L"}}},
      {"Sandwich",
       "ALiBi extrapolates if its slopes are steep, whether they differ or not",
       {"S-T1-6", "S-T1-8", "S-T1-10", "sandwich/table1/steep-flat"},
       {{"sandwich/table1/steep-flat", "PPL 8 L / PPL L", "steep slopes, PPL 8 L / PPL L"},
        {"S-T1-6", "PPL 8 L / PPL L", "flat slopes"}}},
      {"Sandwich",
       "sinusoidal and rotary positions fail beyond the training length",
       {"S-T3-1", "S-T3-2", "K-T3-1", "K-T3-2"},
       {{"S-T3-1", "PPL 2 L / PPL L", "last token, PPL 2 L / PPL L, sinusoidal", true},
        {"S-T3-2", "PPL 2 L / PPL L", "rotary", true}}},
      {"Sandwich",
       "Sandwich gains from tokens beyond the training length, and is better than ALiBi there",
       {"S-T3-4", "S-T3-5"},
       {{"S-T3-4", "least PPL beyond L", "Sandwich, least PPL beyond L / PPL L", true},
        {"S-T3-5", ", Sandwich / ALiBi", "PPL beyond L, Sandwich / ALiBi", true}}},
      {"Sandwich",
       "models that fail have much of their gradient beyond the training length",
       {"S-F6-1", "sandwich/fig6/share", "sandwich/fig7/share", "S-F7-1"},
       {{"sandwich/fig6/share", "Rotary: share", "share of the last L inputs, rotary"},
        {"sandwich/fig7/share", "Sinusoidal: share", "sinusoidal"},
        {"sandwich/fig6/share", "ALiBi: share", "ALiBi, which does not fail"}}},
      {"KERPLE",
       "the log kernel is at least as good as the power kernel, ALiBi, rotary and sinusoidal at "
       "every length",
       {"K-T3-3", "K-T3-4"},
       {{"K-T3-3", "KERPLE-log / KERPLE-power", "PPL of chunks, log / power", true},
        {"K-T3-4", "KERPLE-log / ALiBi", "log / ALiBi", true}}},
      {"KERPLE",
       "the log kernel uses tokens beyond the training length",
       {"K-F5-1", "K-F5-2", "K-F7-1"},
       {{"K-F5-1", "log / masked", "mean nll from 2 L to 8 L, log / log masked at L"},
        {"K-F5-1", "below masked", "share of positions at which it is below masked", true}}},
      {"KERPLE",
       "more complicated kernels do not help",
       {"K-T5-1", "kerple/table5/weight", "K-T6-3"},
       {{"K-T5-1", "3-para-log / KERPLE-log", "PPL of chunks, 3-para-log / log", true},
        {"K-T6-3", "KERPLE-log / ", "log / Gaussian-like kernels", true}}},
      {"ALiBi",
       "ALiBi does not degrade beyond the training length",
       {"A-F1-1", "S-T3-3", "K-T3-7"},
       {{"S-T3-3", "PPL 16 L / PPL 4 L", "ALiBi, last token, PPL 16 L / PPL 4 L", true}}},
      {"ALiBi",
       "trained slopes do not extrapolate better than fixed ones, and drawn ones differ more than "
       "seeds do",
       {"A-TS-1", "A-RS-1"},
       {{"A-TS-1", "PPL 8 L / PPL L", "rise from L to 8 L, trained / fixed"}}},
      {"Extending Context",
       "a rotary model breaks down soon beyond its training length",
       {"C-BASE-1"},
       {{"C-BASE-1", "PPL from 2 to 4 L", "PPL from 2 to 4 L / from 0.75 to 1 L"}}},
      {"Extending Context",
       "interpolated positions extend the context after a short fine-tune, and a fine-tune alone "
       "does less",
       {"C-INT-1", "C-NFT-1"},
       {{"C-INT-1", "PPL from 3 to 4 L", "interpolated, PPL from 3 to 4 L / from 0.75 to 1 L"},
        {"C-NFT-1", "with interpolation", "PPL from 2 to 4 L, fine-tuned alone / interpolated"}}},
      {"Extending Context",
       "transformers do not learn parity beyond their training lengths, unless a mask hides all "
       "distractors",
       {"context/parity/chance", "C-PAR-1"},
       {{"context/parity/chance", "share of right answers", "right answers beyond these lengths"},
        {"C-PAR-1", "share of right answers", "without distractors"}}},
      {"Extending Context",
       "a memory of one bit makes fewer errors on rare and frequent writes after training on both",
       {"C-FF-1"},
       {{"C-FF-1", "sparse", "share of wrong reads, mixture - base, sparse"},
        {"C-FF-1", "dense", "dense"}}},
      {"Extending Context",
       "linear attention, a memory of fixed size, recalls fewer pairs than softmax",
       {"context/linear-capacity/linear"},
       {{"context/linear-capacity/linear", "pairs - of softmax",
         "share of right answers, linear - softmax"}}},
      {"our own",
       "flat perplexity may be forgetting: ALiBi and windows lose keys far from the end",
       {"context/passkey/reach", "atlas/passkey/forgets", "atlas/induction/forgets"},
       {{"context/passkey/reach", "share of keys",
         "share of keys at 8 L, in the first half - in the last tenth"}}},
      {"our own",
       "where encodings fail, the share of a model's gradient beyond the training length predicts "
       "its loss there",
       {"atlas/field-predicts-loss"},
       {{"atlas/field-predicts-loss", "rank correlation", "rank correlation over encodings"}}},
  };
  return all;
}

std::vector<const Judgement*> judged(const Report& report, const std::string& claim) {
  std::vector<const Judgement*> found;
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements)
      if (j.claim == claim && j.evidence.verdict() != Verdict::not_run) found.push_back(&j);
  return found;
}

// "rotary 4.1 (code), 5.6 to 5.7 (latex)"; "" where nothing is measured.
std::string range_text(const Report& report, const Range& range) {
  std::map<std::string, std::pair<double, double>> by_text;
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements) {
      if (j.claim != range.claim) continue;
      for (const Evidence::Item& item : (range.is_printed ? j.printed : j.evidence).items()) {
        if (item.is_missing || item.what.find(range.item) == std::string::npos) continue;
        auto& [least, most] = by_text.try_emplace(item.text, item.value, item.value).first->second;
        least = std::min(least, item.value);
        most = std::max(most, item.value);
      }
    }
  if (by_text.empty()) return "";
  return concat(range.told, ' ', joined(by_text, ", ", [](const auto& entry) {
                  const std::string low = eval::short_number(entry.second.first),
                                    high = eval::short_number(entry.second.second);
                  return concat(low, low == high ? "" : " to " + high, " (", entry.first, ')');
                }));
}

}  // namespace

std::vector<Thesis> theses_of(const Report& report) {
  std::vector<Thesis> all;
  for (const Told& of : told()) {
    Thesis thesis = {of.paper, of.thesis, {}, {}, {}, {}};
    std::map<Verdict, int> n;
    std::vector<std::string> notes;  // on seeds
    for (const char* claim : of.claims)
      for (const Judgement* j : judged(report, claim)) {
        if (std::find(thesis.claims.begin(), thesis.claims.end(), claim) == thesis.claims.end())
          thesis.claims.emplace_back(claim);
        ++n[j->evidence.verdict()];
        notes.push_back(j->one_seed_note());
      }
    if (thesis.claims.empty()) continue;
    const bool has_pass = n[Verdict::pass] > 0, has_fail = n[Verdict::fail] > 0,
               has_open = n[Verdict::undecided] > 0;
    thesis.answer = has_fail   ? (has_pass ? "holds in part" : "does not hold")
                    : has_open ? (has_pass ? "holds as far as decided" : "undecided")
                               : "holds";
    for (const Verdict v : {Verdict::pass, Verdict::fail, Verdict::undecided})
      if (n[v] > 0)
        thesis.verdicts += concat(thesis.verdicts.empty() ? "" : ", ", n[v], ' ', to_word(v));
    if (!cli::has<std::string>(notes, ""))
      thesis.verdicts +=
          concat(", ", std::count(notes.begin(), notes.end(), notes[0]) == std::ssize(notes)
                           ? notes[0]
                           : "one seed on some texts");
    for (const Range& range : of.ranges) {
      const std::string text = range_text(report, range);
      if (!text.empty()) thesis.numbers += concat(thesis.numbers.empty() ? "" : "; ", text);
    }
    if (!thesis.numbers.empty())
      thesis.numbers.front() =
          static_cast<char>(std::toupper(static_cast<unsigned char>(thesis.numbers.front())));
    all.push_back(std::move(thesis));
  }
  return all;
}

std::vector<std::string> claims_of_theses() {
  std::vector<std::string> all;
  for (const Told& of : told()) {
    all.insert(all.end(), of.claims.begin(), of.claims.end());
    for (const Range& range : of.ranges) all.emplace_back(range.claim);
  }
  return all;
}

}  // namespace farfield::sweep
