// theses_of() of findings.h.

#include <algorithm>
#include <cctype>
#include <cmath>

#include "apps/eval/results.h"
#include "apps/sweep/findings.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// Numbers of a finding, told as a range: of its items with this text.
struct Range {
  const char *claim, *item, *told;
};
struct Told {
  const char *paper, *thesis;
  std::vector<const char*> claims;
  std::vector<Range> ranges;
};

const std::vector<Told>& told() {
  static const std::vector<Told> all = {
      {"Sandwich",
       "a model extrapolates if its empirical receptive field (ERF) fits into the training length",
       {"S-T1-1", "S-T1-2", "S-F4-3"},
       {{"S-T1-1", "PPL 16 L / PPL L", "windows with a shorter field, PPL 16 L / PPL L"},
        {"S-T1-2", "PPL 2 L / PPL L", "with a longer field, PPL 2 L / PPL L"}}},
      {"Sandwich",
       "ALiBi extrapolates because its slopes are steep, not because they differ",
       {"S-T1-6", "S-T1-8", "S-T1-10", "sandwich/table1/steep-flat"},
       {{"sandwich/table1/steep-flat", "PPL 8 L / PPL L", "steep slopes, PPL 8 L / PPL L"},
        {"S-T1-6", "PPL 8 L / PPL L", "flat slopes, PPL 8 L / PPL L"}}},
      {"Sandwich",
       "sinusoidal and rotary positions fail beyond the training length",
       {"S-T3-1", "S-T3-2", "K-T3-1", "K-T3-2"},
       {{"S-T3-1", "PPL 2 L / PPL L", "sinusoidal, PPL 2 L / PPL L"},
        {"S-T3-2", "PPL 2 L / PPL L", "rotary, PPL 2 L / PPL L"}}},
      {"Sandwich",
       "Sandwich extrapolates, gains from tokens beyond the training length and beats ALiBi",
       {"S-T3-4", "S-T3-5"},
       {{"S-T3-4", "least PPL beyond L", "least PPL beyond L / PPL L"},
        {"S-T3-5", "PPL 16 L, Sandwich / ALiBi", "PPL 16 L on real text, Sandwich / ALiBi"}}},
      {"Sandwich",
       "encodings that fail spread their gradient beyond the training length",
       {"S-F6-1", "S-F7-1", "S-F11-1", "S-F11-2"},
       {{"S-F11-1", "share of the last L inputs",
         "Sandwich's share of the gradient on the last L "
         "inputs"}}},
      {"KERPLE",
       "the log kernel is at least as good as every other encoding at every length",
       {"K-T3-3", "K-T3-4"},
       {{"K-T3-3", "KERPLE-log / KERPLE-power", "PPL, log / power"},
        {"K-T3-4", "KERPLE-log / ALiBi", "log / ALiBi"}}},
      {"KERPLE",
       "the log kernel uses tokens beyond the training length",
       {"K-F5-1", "K-F5-2", "K-F7-1"},
       {{"K-F5-1", "log / masked", "mean nll beyond 2 L, log / log masked at L"}}},
      {"KERPLE",
       "more complicated kernels do not help",
       {"K-T5-1", "kerple/table5/weight", "K-T6-3"},
       {{"K-T5-1", "3-para-log / KERPLE-log", "PPL, 3-para-log / log"},
        {"K-T6-3", "KERPLE-log / ", "log / Gaussian-like kernels"}}},
      {"ALiBi",
       "ALiBi does not degrade beyond the training length",
       {"A-F1-1", "S-T3-3", "K-T3-7"},
       {{"S-T3-3", "PPL 16 L / PPL 4 L", "ALiBi, PPL 16 L / PPL 4 L"}}},
      {"ALiBi",
       "slopes need not be learned, and most draws of them work as well",
       {"A-TS-1", "A-RS-1"},
       {{"A-TS-1", "PPL 8 L / PPL L", "rise from L to 8 L, trained / fixed slopes"}}},
      {"our own",
       "the share of the gradient beyond the training length predicts what a model loses there",
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

std::string range_text(const Report& report, const Range& range) {
  double least = INFINITY, most = -INFINITY;
  for (const Judgement* j : judged(report, range.claim))
    for (const Evidence::Item& item : j->evidence.items())
      if (!item.is_missing && item.what.find(range.item) != std::string::npos) {
        least = std::min(least, item.value);
        most = std::max(most, item.value);
      }
  if (least > most) return "";
  const std::string low = eval::short_number(least), high = eval::short_number(most);
  return concat(range.told, ' ', low, low == high ? "" : " to " + high);
}

}  // namespace

std::vector<Thesis> theses_of(const Report& report) {
  std::vector<Thesis> all;
  for (const Told& of : told()) {
    Thesis thesis = {of.paper, of.thesis, "", "", {}};
    int n_pass = 0, n_fail = 0, n_open = 0;
    bool is_of_one_seed = true;
    for (const char* claim : of.claims)
      for (const Judgement* j : judged(report, claim)) {
        if (std::find(thesis.claims.begin(), thesis.claims.end(), claim) == thesis.claims.end())
          thesis.claims.emplace_back(claim);
        const Verdict verdict = j->evidence.verdict();
        is_of_one_seed = is_of_one_seed && j->is_of_one_seed();
        ++(verdict == Verdict::pass ? n_pass : verdict == Verdict::fail ? n_fail : n_open);
      }
    if (thesis.claims.empty()) continue;
    thesis.answer = n_fail == 0 && n_open == 0   ? "holds"
                    : n_pass == 0 && n_open == 0 ? "does not hold"
                    : n_pass == 0 && n_fail == 0 ? "undecided"
                    : n_fail > 0                 ? "holds in part"
                                                 : "holds as far as it is decided";
    if (n_pass == 0 && n_fail > 0 && n_open > 0)
      thesis.answer = "does not hold as far as it is decided";
    if (is_of_one_seed) thesis.answer += " (one seed)";
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

}  // namespace farfield::sweep
