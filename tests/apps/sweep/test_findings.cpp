// The two answers to a finding, their words and their counts.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>

#include "apps/sweep/findings.h"
#include "apps/sweep/reference.h"
#include "apps/sweep/sections.h"
#include "tests/apps/sweep/sweep_fixture.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

using Nll = std::map<std::string, std::vector<double>>;  // by arm, at each length of P2

// Kerple's table 3 on github and topic.
struct Table3 {
  Plan plan;
  Results results;

  explicit Table3(Scale scale, int64_t seeds = 1) {
    PlanOptions options = made_up_options(scale);
    options.seeds = seeds;
    options.on = {"github", "topic"};
    plan = plan_of(experiment_named("kerple/table3"), options);
  }
  void add(size_t dataset, size_t seed, const Nll& nll) {
    for (size_t arm = 0; arm < plan.arms.size(); ++arm)
      if (const auto found = nll.find(plan.arms[arm].label()); found != nll.end())
        results.add(made_up_result(plan, plan.cell(dataset, arm, seed), "P2", found->second));
  }
  Judgement judgement(const std::string& claim) const {
    const std::vector<Judgement> all = judgements_of(plan, results);
    return *std::find_if(all.begin(), all.end(),
                         [&](const Judgement& j) { return j.claim == claim; });
  }
};

// That rises by this factor at each doubling.
std::vector<double> rising(double factor) {
  std::vector<double> nll;
  for (int i = 0; i < 6; ++i) nll.push_back(1 + i * std::log(factor));
  return nll;
}

Report report_of(const std::vector<Plan>& plans, const Results& results) {
  Report report;
  report.scale = "tiny";
  for (const Plan& plan : plans) report.sections.push_back(section_of(plan, results));
  return report;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_findings)

BOOST_AUTO_TEST_CASE(a_weaker_threshold_of_this_scale_is_told_beside_the_papers) {
  Table3 table(Scale::tiny);
  table.add(0, 0, {{"Sinusoidal", rising(2)}});
  table.add(1, 0, {{"Sinusoidal", rising(1)}});
  const Judgement j = table.judgement("K-T3-1");
  BOOST_TEST(verdict_text(j) == "PASS (one seed)");      // at least 1.3, on real text
  BOOST_TEST((printed_answer(j) == PrintedAnswer::no));  // more than 10, on every text
  BOOST_TEST(has(asked_text(j), "asked: at 2 L at least 1.3 times the value at L, on real text"));
  BOOST_TEST(has(printed_text(j), "no: 0 of 2 hold"), printed_text(j));
  BOOST_TEST(has(printed_text(j), "above 10"));
}

BOOST_AUTO_TEST_CASE(what_holds_on_one_text_alone_holds_partly) {
  Table3 table(Scale::tiny);
  const std::vector<double> low = rising(1), high = rising(1.1);
  Nll on_code = {{"KERPLE-log", high}, {"KERPLE-power", low}};
  Nll on_topic = {{"KERPLE-log", low}, {"KERPLE-power", high}};
  table.add(0, 0, on_code);
  table.add(1, 0, on_topic);
  BOOST_TEST(to_word(printed_answer(table.judgement("K-T3-3"))) == "partly");
  BOOST_TEST(has(printed_text(table.judgement("K-T3-3")), "github, PPL"));
}

BOOST_AUTO_TEST_CASE(a_text_without_models_is_not_asked) {
  Table3 table(Scale::tiny);
  table.add(0, 0, {{"Sinusoidal", rising(2)}});
  const Judgement j = table.judgement("K-T3-1");
  BOOST_TEST(verdict_text(j) == "PASS (one seed)");
  BOOST_TEST(has(printed_text(j), "no: 0 of 1 hold"), printed_text(j));
  // A finding of the other text says so.
  BOOST_TEST(verdict_text(table.judgement("K-T3-3")) == "NOT RUN");
}

BOOST_AUTO_TEST_CASE(models_are_compared_over_the_seeds_that_both_have) {
  // Power has the first seed alone, in which it is better; over all seeds log would be.
  Table3 table(Scale::tiny, 3);
  for (const size_t dataset : {0, 1})
    for (const size_t seed : {0, 1, 2}) {
      std::vector<double> log = rising(1), power = rising(1);
      for (double& x : log) x -= 0.5 * static_cast<double>(seed);
      for (double& x : power) x -= 0.1;
      table.add(dataset, seed, {{"KERPLE-log", log}, {"Sinusoidal", rising(20)}});
      if (seed == 0) table.add(dataset, seed, {{"KERPLE-power", power}});
    }
  const Judgement j = table.judgement("K-T3-3");
  BOOST_TEST(verdict_text(j) == "FAIL (one seed)");
  BOOST_TEST(verdict_text(table.judgement("K-T3-1")) == "PASS");  // of three
  const Section section = section_of(table.plan, table.results);
  BOOST_TEST(section.tables.front().header[1] == "KERPLE-log");
  BOOST_TEST(has(section.tables.front().caption, ", 3 seeds unless said otherwise"));
  BOOST_TEST(section.tables.front().header[2] == "KERPLE-power (1 seed)");
  for (const ReportTable::Field& field : section.tables.front().rows[0])
    BOOST_TEST(!field.is_best);  // means over other seeds
}

BOOST_AUTO_TEST_CASE(claims_for_published_models_are_judged_from_small_on) {
  const Nll nll = {{"T5", {1, 1.1, 1.3, 1.4, 1.5, 1.6}},
                   {"KERPLE-log", {1.05, 1.2, 1.2, 1.2, 1.2, 1.2}}};
  for (const auto& [scale, verdict] : {std::pair(Scale::tiny, Verdict::not_run),
                                       {Scale::small, Verdict::pass},
                                       {Scale::brief, Verdict::not_run},  // it needs the steps
                                       {Scale::paper, Verdict::pass}}) {
    Table3 table(scale);
    for (size_t dataset = 0; dataset < table.plan.datasets.size(); ++dataset)
      table.add(dataset, 0, nll);
    const Judgement j = table.judgement("K-T3-5");
    BOOST_TEST((j.evidence.verdict() == verdict), to_word(scale));
    BOOST_TEST(to_word(printed_answer(j)) == "yes",
               to_word(scale));  // the numbers are told in any case
  }
}

BOOST_AUTO_TEST_CASE(statements_leave_the_thresholds_of_small_models_to_what_is_asked) {
  for (const Experiment& e : experiments())
    for (const Judgement& j : judgements_of(plan_of(e, made_up_options(Scale::tiny)), {})) {
      BOOST_TEST(!has(j.statement, "tiny"), j.claim << ": " << j.statement);
      const Claim* const claim = find_claim(j.claim);
      if (claim == nullptr || claim->statement == j.statement || !has(claim->statement, "tiny"))
        continue;
      // T5's cost is told, not judged, below `small`.
      BOOST_TEST((!j.asked.empty() || j.claim == "S-SP-1"), j.claim);
    }
}

BOOST_AUTO_TEST_CASE(a_finding_of_two_tables_counts_once) {
  const PlanOptions options = made_up_options(Scale::tiny);
  const std::vector<Plan> both = {plan_of(experiment_named("sandwich/table1"), options),
                                  plan_of(experiment_named("sandwich/table4"), options)};
  const Report report = report_of(both, {});
  Counts claims = counts_of(report, "Sandwich");
  BOOST_TEST(claims.all == 11);                 // S-T1-1 to S-T1-11
  BOOST_TEST(claims.here[Verdict::pass] == 1);  // of printed numbers
  BOOST_TEST(claims.here[Verdict::not_run] == 10);
  BOOST_TEST(claims.printed[PrintedAnswer::yes] == 1);
  BOOST_TEST(counts_of(report, "own").all == 2);
  BOOST_TEST(counts_of(report, "KERPLE").all == 0);
  const ReportTable table = counts_table(report);
  BOOST_TEST(table.rows.size() == 2u);
  BOOST_TEST(table.rows[0][0].text == "claims of Sandwich");
  BOOST_TEST(table.rows[0][1].text == "11");
}

BOOST_AUTO_TEST_CASE(every_claim_has_an_experiment) {
  BOOST_TEST(claims_without_experiment() == std::vector<std::string>());
}

BOOST_AUTO_TEST_CASE(a_thesis_is_told_with_the_numbers_of_its_findings) {
  Table3 table(Scale::tiny);
  for (const size_t dataset : {0, 1})
    table.add(dataset, 0, {{"KERPLE-log", rising(1.1)}, {"KERPLE-power", rising(1)}});
  const std::vector<Thesis> theses = theses_of(report_of({table.plan}, table.results));
  const auto log = std::find_if(theses.begin(), theses.end(), [](const Thesis& t) {
    return has(t.thesis, "the log kernel is at least as good");
  });
  BOOST_TEST_REQUIRE((log != theses.end()));
  BOOST_TEST(log->answer == "does not hold");
  BOOST_TEST(log->verdicts == "1 FAIL, one seed");
  BOOST_TEST(log->numbers == "PPL of chunks, log / power 1 to 1.611 (github), 1 to 1.611 (topic)");
  BOOST_TEST(log->claims.size() == 1u);  // of the others nothing is measured
  BOOST_TEST(theses_of(report_of({table.plan}, {})).empty());
}

BOOST_AUTO_TEST_CASE(markdown_links_findings_and_sections_both_ways) {
  Table3 table(Scale::tiny);
  table.add(0, 0, {{"Sinusoidal", rising(2)}});
  Report report = report_of(
      {table.plan, plan_of(experiment_named("kerple/table9-1.3b"), made_up_options(Scale::tiny)),
       plan_of(experiment_named("sandwich/parity"), made_up_options(Scale::tiny))},
      table.results);
  std::vector<std::vector<std::string>> figures;
  for (const Section& section : report.sections) figures.emplace_back(section.figures.size());
  const std::string text = report_markdown(report, figures);
  BOOST_TEST(has(text, "| K-T3-1 | [kerple/table3](#kerpletable3) |"));
  BOOST_TEST(has(text, "\n## kerple/table3\n"));
  BOOST_TEST(has(text, "\n[Findings](#findings):\n"));
  BOOST_TEST(!has(text, "\n## kerple/table9-1.3b\n"));  // nothing but dashes
  BOOST_TEST(
      has(text, "\n## Without numbers\n\nkerple/table9-1.3b (not measured); sandwich/parity ("));
  BOOST_TEST(has(text, "| K-T9-3 | kerple/table9-1.3b |"));  // without a link to nowhere
}

BOOST_AUTO_TEST_CASE(nothing_holds_of_models_that_are_not_there) {
  for (const Experiment& e : experiments()) {
    const Plan plan = plan_of(e, made_up_options(Scale::tiny));
    if (plan.arms.empty()) continue;
    for (const Judgement& j : judgements_of(plan, {})) {
      if (!j.has_models) continue;
      BOOST_TEST((j.evidence.verdict() == Verdict::not_run), e.id << ", " << j.claim);
      const PrintedAnswer printed = printed_answer(j);
      BOOST_TEST((printed == PrintedAnswer::not_measured || printed == PrintedAnswer::not_asked ||
                  printed == PrintedAnswer::of_no_paper),
                 e.id << ", " << j.claim << ": " << to_word(printed));
      for (const Evidence* evidence : {&j.evidence, &j.printed})
        for (const Evidence::Item& item : evidence->items())
          BOOST_TEST(!item.holds, e.id << ", " << j.claim << ": " << item.what);
    }
  }
}

BOOST_AUTO_TEST_CASE(theses_rest_on_findings_that_there_are) {
  std::set<std::string> known;
  for (const Experiment& e : experiments())
    for (const Finding& finding : e.findings) known.insert(finding.claim);
  for (const std::string& claim : claims_of_theses()) BOOST_TEST(known.count(claim) == 1u, claim);
}

BOOST_AUTO_TEST_SUITE_END()
