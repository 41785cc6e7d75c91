// What the checks find on the numbers that the papers printed, against what claims.csv says of
// these: "9 of 10 cells: exceptions ...".

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>

#include "apps/sweep/arms.h"
#include "apps/sweep/reference.h"
#include "apps/sweep/sections.h"
#include "tests/apps/sweep/sweep_fixture.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

// Claims that no check finds on printed numbers, with the reason.
const std::map<std::string, std::string> kNotJudged = {
    {"K-L1-1", "it is computed from the kernels, and its paper printed no numbers"}};

// Tables whose numbers a claim of another one compares with.
const std::multimap<std::string, std::string> kBeside = {
    {"sandwich/table2", "sandwich/table1"},  // the failed cases, of arxiv and of openwebtext2
    {"sandwich/table2", "sandwich/table4"},
    {"sandwich/table5", "sandwich/table3"},  // the same models without a cache
    {"kerple/table5", "kerple/table3"},      // the log kernel
    {"kerple/table6", "kerple/table3"},
    {"kerple/table7", "kerple/table4"}};

std::string protocol_of(const PrintedNumber& number) {
  if (number.variant == "cached") return "cached";
  if (number.metric == "ppl_last_token") return "last-token";
  return number.metric == "sec_per_step" ? "speed" : "non-overlapping";
}

// Empty for "OOM" and for numbers that are not printed.
std::optional<double> value_of(const PrintedNumber& number) {
  char* end = nullptr;
  const double value = std::strtod(number.mean.c_str(), &end);
  return number.mean.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

// The name of an experiment among printed numbers.
std::string table_of(const Experiment& e) { return e.reference.empty() ? e.id : e.reference; }

// A cell of the experiment's own table, else of those beside it.
std::optional<double> printed(const Experiment& e, const Arm& arm, const std::string& dataset,
                              const std::string& protocol, int64_t length) {
  std::vector<std::string> tables = {table_of(e)};
  const auto [begin, end] = kBeside.equal_range(tables.front());
  for (auto beside = begin; beside != end; ++beside) tables.push_back(beside->second);
  for (const std::string& table : tables)
    for (const PrintedNumber& number : printed_numbers_of(table))
      if (number.dataset == dataset && protocol_of(number) == protocol && is_of(number, arm) &&
          (number.length.empty() || number.length == std::to_string(length)))
        if (const auto value = value_of(number)) return value;
  return std::nullopt;
}

std::vector<eval::LengthResult> as_measured(const Plan& plan, const Measure& measure,
                                            const Arm& arm, const std::string& dataset) {
  std::vector<eval::LengthResult> lengths;
  const auto take = [&](int64_t length) {
    const auto value = printed(*plan.experiment, arm, dataset, measure.protocol, length);
    if (!value) return;
    eval::LengthResult& cell = lengths.emplace_back();
    cell.length = length;
    if (measure.protocol == "speed")
      cell.quantities = {{"train_step_s", *value}};
    else
      cell.mean_nll = std::log(*value);
  };
  if (measure.protocol == "speed")
    take(0);
  else
    for (const double units : measure.lengths) take(tokens_of(plan.scale, units) + measure.offset);
  return lengths;
}

Plan published(const Experiment& e) {
  PlanOptions options = made_up_options(Scale::paper);
  options.seeds = 1;
  return plan_of(e, options);
}

// The paper's table as measured results. Of measures that differ in options alone the first has the
// numbers.
Results printed_results(const Plan& plan) {
  Results results;
  const std::vector<Measure>& measures = plan.experiment->measures;
  for (size_t d = 0; d < plan.datasets.size(); ++d)
    for (size_t a = 0; a < plan.arms.size(); ++a) {
      const Cell& cell = plan.cell(d, a, 0);
      CellResult result;
      result.hash = cell.hash();
      for (size_t i = 0; i < measures.size(); ++i) {
        const bool is_first = std::none_of(
            measures.begin(), measures.begin() + static_cast<std::ptrdiff_t>(i),
            [&](const Measure& other) { return other.protocol == measures[i].protocol; });
        if (!is_first) continue;
        const Arm& arm = plan.arms[a].arm;
        const std::string& dataset = plan.datasets[d].name;
        result.measured[cell.measurements[i].id()].lengths =
            as_measured(plan, measures[i], arm, dataset);
      }
      results.add(std::move(result));
    }
  return results;
}

// What was found on a claim by all experiments that have printed numbers.
struct Found {
  int n_experiment = 0, n_item = 0, n_missing = 0, n_failing = 0;
  Verdict verdict = Verdict::not_run;  // the worst
  std::string items;                   // numbers that fail or are missing
};

std::map<std::string, Found> found_on_printed_numbers() {
  std::map<std::string, Found> all;
  for (const Experiment& e : experiments()) {
    if (!e.not_run.empty() || printed_numbers_of(table_of(e)).empty()) continue;
    const Plan plan = published(e);
    for (const Judgement& j : judgements_of(plan, printed_results(plan))) {
      Found& found = all[j.claim];
      const Verdict verdict = j.evidence.verdict();
      if (found.n_experiment++ == 0 || verdict == Verdict::fail ||
          (verdict == Verdict::not_run && found.verdict == Verdict::pass))
        found.verdict = verdict;
      for (const Evidence::Item& item : j.evidence.items()) {
        ++found.n_item;
        if (item.is_missing) ++found.n_missing;
        if (!item.is_missing && !item.holds) ++found.n_failing;
        if (!item.holds)
          found.items +=
              concat("\n  ", e.id, ": ", item.what, " = ", item.value, ", not ", item.condition);
      }
    }
  }
  return all;
}

// "9 of 10 cells: ..." leaves 1.
int exceptions_of(const Claim& claim) {
  std::smatch match;
  const bool has_count =
      std::regex_search(claim.evidence, match, std::regex("^([0-9]+) of ([0-9]+) cells"));
  BOOST_TEST_REQUIRE(has_count, claim.id << ": " << claim.evidence);
  return std::stoi(match[2]) - std::stoi(match[1]);
}

Verdict verdict_on(const std::vector<Judgement>& all, const std::string& claim) {
  return std::find_if(all.begin(), all.end(), [&](const Judgement& j) { return j.claim == claim; })
      ->evidence.verdict();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_claims_on_printed_numbers)

BOOST_AUTO_TEST_CASE(checks_find_what_the_claims_say) {
  const std::map<std::string, Found> all = found_on_printed_numbers();
  int n_judged = 0;
  for (const Claim& claim : claims()) {
    if (claim.in_paper == "stated") continue;
    const auto found = all.find(claim.id);
    if (const auto why_not = kNotJudged.find(claim.id); why_not != kNotJudged.end()) {
      BOOST_TEST((found == all.end()), claim.id << " is judged after all: " << why_not->second);
      continue;
    }
    BOOST_TEST((found != all.end()), claim.id << ": no experiment with printed numbers has it");
    if (found == all.end()) continue;
    ++n_judged;
    const Found& f = found->second;
    const std::string why = concat(claim.id, ": ", claim.statement, " (", claim.in_paper, ", ",
                                   claim.evidence, ")", f.items);
    BOOST_TEST(f.n_item > 0, why);
    BOOST_TEST(f.n_missing == 0, why);
    BOOST_TEST(f.n_failing == exceptions_of(claim), why);
    const Verdict expected = claim.in_paper == "holds" ? Verdict::pass : Verdict::fail;
    BOOST_TEST((f.verdict == expected), why);
  }
  BOOST_TEST(n_judged >= 40);
}

BOOST_AUTO_TEST_CASE(findings_of_our_own_are_not_taken_for_claims) {
  for (const Experiment& e : experiments())
    for (const Finding& finding : e.findings)
      BOOST_TEST((find_claim(finding.claim) == nullptr) == !finding.statement.empty(),
                 e.id << ": " << finding.claim);
}

BOOST_AUTO_TEST_CASE(they_find_other_things_on_other_numbers) {
  const Plan plan = published(experiment_named("sandwich/table3"));
  const Results straight = printed_results(plan);
  Results reversed;
  for (const auto& [hash, result] : straight.all()) {
    CellResult other = result;
    for (auto& [id, measured] : other.measured) {
      std::vector<eval::LengthResult>& lengths = measured.lengths;
      for (size_t i = 0; i < lengths.size() / 2; ++i)
        std::swap(lengths[i].mean_nll, lengths[lengths.size() - 1 - i].mean_nll);
    }
    reversed.add(other);
  }
  const std::vector<Judgement> all = judgements_of(plan, reversed), none = judgements_of(plan, {});
  for (const char* claim : {"S-T3-1", "S-T3-2", "S-T3-3", "S-T3-6", "S-T3-7", "S-T3-10"})
    BOOST_TEST((verdict_on(all, claim) == Verdict::fail), claim);
  for (const char* claim : {"S-T3-1", "S-T3-9"})
    BOOST_TEST((verdict_on(none, claim) == Verdict::not_run), claim);
}

BOOST_AUTO_TEST_SUITE_END()
