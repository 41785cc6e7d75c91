#include "apps/sweep/findings.h"

#include <algorithm>
#include <set>

#include "apps/eval/results.h"
#include "apps/sweep/reference.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

bool holds_surely(const Evidence::Item& item) {
  return !item.is_missing && item.is_sure && item.holds;
}
bool fails_surely(const Evidence::Item& item) {
  return !item.is_missing && item.is_sure && !item.holds;
}
bool is_missing(const Evidence::Item& item) { return item.is_missing; }
bool is_open(const Evidence::Item& item) { return !item.is_missing && !item.is_sure; }

int64_t count(const Evidence& evidence, bool (*is)(const Evidence::Item&)) {
  return std::count_if(evidence.items().begin(), evidence.items().end(), is);
}

// The items that decide: those that fail, farthest first, else those that are open, else those that
// hold, both the nearest to their threshold first.
std::vector<const Evidence::Item*> deciding(const Evidence& evidence, size_t most) {
  std::vector<const Evidence::Item*> found;
  for (const auto& is : {fails_surely, is_open, holds_surely}) {
    for (const Evidence::Item& item : evidence.items())
      if (is(item)) found.push_back(&item);
    if (!found.empty()) break;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return a->margin < b->margin; });
  if (found.size() > most) found.resize(most);
  return found;
}

// "1.97", of several seeds "1.97 (1.91 to 2.03)"; of yes or no "61, 62, 3".
std::string number_text(const Evidence::Item& item) {
  if (item.is_yes_or_no())
    return joined(item.by_seed, ", ", [](double x) { return eval::short_number(x); });
  std::string text = eval::short_number(item.value);
  if (item.by_seed.size() < 2) return text;
  const auto [least, most] = std::minmax_element(item.by_seed.begin(), item.by_seed.end());
  const std::string low = eval::short_number(*least), high = eval::short_number(*most);
  return low == high ? text : concat(text, " (", low, " to ", high, ')');
}

std::string item_text(const Evidence::Item* item) {
  return concat(item->what, " = ", number_text(*item), ", ", item->condition,
                item->is_sure ? "" : "?");
}

std::string numbers_of(const Evidence& evidence) {
  const int64_t n = static_cast<int64_t>(evidence.items().size());
  const int64_t n_hold = count(evidence, holds_surely), n_open = count(evidence, is_open),
                n_missing = count(evidence, is_missing);
  std::string text;
  if (n > 0 && n_missing == n) {
    text = "not measured";
  } else if (n > 0) {
    text = concat(n_hold, " of ", n, n_hold == 1 ? " holds" : " hold");
    if (n_open > 0) text += concat(", ", n_open, " undecided");
    if (n_missing > 0) text += concat(", ", n_missing, " not measured");
    text += ": " + joined(deciding(evidence, 3), "; ", item_text);
  }
  return text;
}

}  // namespace

std::string summary_of(const Evidence& evidence) {
  std::string text = numbers_of(evidence);
  for (const std::string& note : evidence.notes()) text += concat(text.empty() ? "" : ". ", note);
  return text;
}

PrintedAnswer printed_answer(const Judgement& j) {
  if (j.is_own()) return PrintedAnswer::of_no_paper;
  const Evidence& e = j.printed;
  const int64_t n_hold = count(e, holds_surely), n_fail = count(e, fails_surely),
                n_open = count(e, is_open), n_missing = count(e, is_missing);
  if (e.items().empty()) return PrintedAnswer::not_asked;
  if (n_fail > 0) return n_hold > 0 ? PrintedAnswer::partly : PrintedAnswer::no;
  if (n_missing > 0) return PrintedAnswer::not_measured;
  return n_open > 0 ? PrintedAnswer::undecided : PrintedAnswer::yes;
}

std::string to_word(PrintedAnswer answer) {
  switch (answer) {
    case PrintedAnswer::not_asked:
      return "not asked";
    case PrintedAnswer::not_measured:
      return "not measured";
    case PrintedAnswer::yes:
      return "yes";
    case PrintedAnswer::partly:
      return "partly";
    case PrintedAnswer::no:
      return "no";
    case PrintedAnswer::undecided:
      return "undecided";
    case PrintedAnswer::of_no_paper:
      break;
  }
  return "";
}

std::string printed_text(const Judgement& j) {
  const std::string answer = to_word(printed_answer(j));
  if (answer.empty()) return "";
  std::string numbers =
      j.printed.items().empty() ? joined(j.printed.notes(), ". ") : numbers_of(j.printed);
  if (numbers == answer || numbers == numbers_of(j.evidence)) numbers.clear();
  return concat(answer, numbers.empty() ? "" : ": ", numbers);
}

std::string verdict_text(const Judgement& j) {
  const Verdict verdict = j.evidence.verdict();
  const std::string note = verdict == Verdict::not_run ? "" : j.one_seed_note();
  return concat(to_word(verdict), note.empty() ? "" : concat(" (", note, ')'));
}

std::string asked_text(const Judgement& j) {
  const std::string numbers = summary_of(j.evidence);
  if (j.asked.empty()) return numbers;
  return concat("asked: ", j.asked, numbers.empty() ? "" : ". ", numbers);
}

Counts counts_of(const Report& report, const std::string& paper) {
  struct Found {
    Verdict worst = Verdict::not_run;
    std::set<PrintedAnswer> printed;
  };
  const auto rank = [](Verdict v) {
    return v == Verdict::fail ? 3 : v == Verdict::undecided ? 2 : v == Verdict::pass ? 1 : 0;
  };
  std::map<std::string, Found> all;
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements) {
      if (paper_of(j) != paper) continue;
      Found& found = all[j.claim];
      if (rank(j.evidence.verdict()) > rank(found.worst)) found.worst = j.evidence.verdict();
      found.printed.insert(printed_answer(j));
    }
  Counts counts;
  counts.all = static_cast<int64_t>(all.size());
  for (const auto& [claim, found] : all) {
    const auto says = [&, &answers = found.printed](PrintedAnswer p) {
      return answers.count(p) != 0;
    };
    ++counts.here[found.worst];
    if (says(PrintedAnswer::partly) || (says(PrintedAnswer::yes) && says(PrintedAnswer::no)))
      ++counts.printed[PrintedAnswer::partly];
    else
      for (const PrintedAnswer p :
           {PrintedAnswer::no, PrintedAnswer::undecided, PrintedAnswer::yes})
        if (says(p)) {
          ++counts.printed[p];
          break;
        }
  }
  return counts;
}

ReportTable counts_table(const Report& report) {
  ReportTable table;
  table.caption = "findings, each once: at this scale, and the papers' own words on our numbers";
  table.header = {"of",      "findings", "PASS",   "FAIL", "UNDECIDED",
                  "NOT RUN", "yes",      "partly", "no",   "undecided"};
  table.groups = {"",
                  "",
                  "at this scale",
                  "at this scale",
                  "at this scale",
                  "at this scale",
                  "as printed",
                  "as printed",
                  "as printed",
                  "as printed"};
  for (const std::string paper : {"Sandwich", "KERPLE", "ALiBi", "Extending Context", "own"}) {
    Counts counts = counts_of(report, paper);
    if (counts.all == 0) continue;
    std::vector<ReportTable::Field> row = {
        {paper == "own" ? "checks of our own" : "claims of " + paper}, {concat(counts.all)}};
    for (const Verdict v : {Verdict::pass, Verdict::fail, Verdict::undecided, Verdict::not_run})
      row.push_back({concat(counts.here[v])});
    for (const PrintedAnswer answer :
         {PrintedAnswer::yes, PrintedAnswer::partly, PrintedAnswer::no, PrintedAnswer::undecided})
      row.push_back({paper == "own" ? "" : concat(counts.printed[answer])});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> claims_without_experiment() {
  std::set<std::string> judged;
  for (const Experiment& e : experiments())
    for (const Finding& finding : e.findings) judged.insert(finding.claim);
  std::vector<std::string> left;
  for (const Claim& claim : claims())
    if (judged.count(claim.id) == 0) left.push_back(claim.id);
  return left;
}

std::string paper_of(const Judgement& j) {
  if (j.is_own()) return "own";
  switch (j.claim.front()) {
    case 'S':
      return "Sandwich";
    case 'K':
      return "KERPLE";
    case 'A':
      return "ALiBi";
    case 'C':
      return "Extending Context";
    default:
      return "own";
  }
}

bool has_numbers(const Section& section) {
  return section.not_run.empty() && (section.n_cells == 0 || section.n_started > 0);
}

std::string without_numbers_text(const Report& report) {
  std::string text;
  for (const Section& section : report.sections)
    if (!has_numbers(section))
      text += concat(text.empty() ? "" : "; ", section.id, " (",
                     section.not_run.empty() ? "not measured" : section.not_run, ')');
  return text;
}

}  // namespace farfield::sweep
