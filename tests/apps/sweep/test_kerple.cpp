#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <set>

#include "apps/sweep/reference.h"
#include "apps/sweep/sections.h"
#include "tests/apps/sweep/sweep_fixture.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

Judgement judged(const std::string& id, const std::string& claim) {
  const Plan plan = plan_of(experiment_named(id), made_up_options(Scale::tiny));
  for (Judgement& j : judgements_of(plan, {}))
    if (j.claim == claim) return j;
  BOOST_FAIL(id << " has no finding " << claim);
  return {};
}

eval::Series kernel(int head, double slope) {
  eval::Series s;
  s.name = "kernel";
  s.of = "h" + std::to_string(head);
  for (int64_t d = 0; d <= 20480; d += d < 64 ? 1 : 64) {
    s.x.push_back(static_cast<double>(d));
    s.y.push_back(-slope * static_cast<double>(d));
  }
  return s;
}

// Kernels that are lines, and their effective lengths.
eval::ProtocolResult lines(const std::vector<double>& slopes) {
  eval::ProtocolResult result;
  eval::LengthResult& cell = result.lengths.emplace_back();
  int head = 0;
  for (const double slope : slopes) {
    ++head;
    cell.quantities.push_back({"eff", std::floor(2 / slope) + 1, "h" + std::to_string(head)});
    cell.series.push_back(kernel(head, slope));
  }
  return result;
}

// Perplexity by position: of the first L tokens, and of the rest.
eval::ProtocolResult by_position(const Plan& plan, double near, double far, double slope) {
  eval::ProtocolResult result;
  eval::LengthResult& cell = result.lengths.emplace_back();
  cell.length = tokens_of(plan.scale, plan.experiment->measures.front().lengths.front());
  cell.quantities = {
      {"late_slope", slope}, {"late_slope_low", slope - 0.01}, {"late_slope_high", slope + 0.01}};
  for (const char* name : {"perplexity", "smoothed perplexity"}) {
    eval::Series& s = cell.series.emplace_back();
    s.name = name;
    for (int64_t t = 1; t <= cell.length; ++t) {
      s.x.push_back(static_cast<double>(t));
      s.y.push_back(t <= tokens_of(plan.scale, 1) ? near : far);
    }
  }
  return result;
}

using ByArm = std::map<std::string, eval::ProtocolResult>;

// The verdicts on an experiment with one measurement, by claim.
std::map<std::string, Verdict> verdicts(const Plan& plan, const ByArm& measured) {
  std::map<std::string, CellResult> cells;
  for (size_t d = 0; d < plan.datasets.size(); ++d)
    for (size_t a = 0; a < plan.arms.size(); ++a) {
      const Cell& cell = plan.cell(d, a, 0);
      CellResult& result = cells[cell.hash()];
      result.hash = cell.hash();
      result.key = cell.key();
      result.measured[cell.measurements.front().id()] = measured.at(plan.arms[a].label());
    }
  Results results;
  for (const auto& [hash, cell] : cells) results.add(cell);
  std::map<std::string, Verdict> found;
  for (const Judgement& j : judgements_of(plan, results)) found[j.claim] = j.evidence.verdict();
  return found;
}

}  // namespace

BOOST_TEST_DONT_PRINT_LOG_VALUE(Verdict)

BOOST_AUTO_TEST_SUITE(test_kerple)

BOOST_AUTO_TEST_CASE(every_claim_of_the_paper_is_checked_where_it_belongs) {
  std::multimap<std::string, std::string> places;
  for (const Experiment& e : experiments())
    for (const Finding& finding : e.findings)
      if (finding.check != nullptr) places.emplace(finding.claim, e.id);
  for (const Claim& claim : claims()) {
    if (claim.id.rfind("K-", 0) != 0) continue;
    BOOST_TEST_CONTEXT(claim.id) {
      BOOST_REQUIRE(places.count(claim.id) == 1U);
      BOOST_TEST(places.find(claim.id)->second.rfind(claim.experiment, 0) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_needs_no_training_holds_but_for_the_exponent_two) {
  for (const Experiment* e :
       experiments_matching({"kerple/fig1", "kerple/table2", "kerple/table8", "kerple/param-count",
                             "kerple/t5-buckets", "kerple/cpd-shift"}))
    for (const Judgement& j : judgements_of(plan_of(*e, made_up_options(Scale::tiny)), {}))
      BOOST_TEST(j.evidence.verdict() == (j.claim == "K-L1-1" ? Verdict::fail : Verdict::pass),
                 j.claim);
  const Judgement lemma = judged("kerple/cpd-shift", "K-L1-1");
  for (const Evidence::Item& item : lemma.evidence.items())
    BOOST_TEST(item.holds == (item.what.rfind("-d^2 ", 0) != 0), item.what);
}

BOOST_AUTO_TEST_CASE(the_printed_percentages_follow_from_the_printed_seconds) {
  const Plan tiny = plan_of(experiment_named("kerple/table4"), made_up_options(Scale::tiny));
  Evidence evidence;
  for (const Finding& finding : tiny.experiment->findings)
    if (finding.claim == "K-T4-2")
      finding.check(Measured(tiny, tiny.datasets.front(), {}), evidence);
  BOOST_TEST(evidence.items().size() == 5U);
  BOOST_TEST(evidence.verdict() == Verdict::pass);
}

BOOST_AUTO_TEST_CASE(a_printed_number_stands_under_the_model_of_its_training_length) {
  const Plan plan = plan_of(experiment_named("kerple/table10"), made_up_options(Scale::tiny));
  const ReportTable* printed = nullptr;
  const Section section = section_of(plan, {});
  for (const ReportTable& table : section.tables)
    if (table.is_papers) printed = &table;
  BOOST_REQUIRE(printed != nullptr);
  for (const auto& row : printed->rows) {
    if (row[0].text == "512") BOOST_TEST(row[3].text == "–");
    if (row[0].text != "2048") continue;
    BOOST_TEST(row[1].text == "18.48");
    BOOST_TEST(row[3].text == "17.91");
    BOOST_TEST(row[4].text == "17.84");
  }
}

BOOST_AUTO_TEST_CASE(kernels_are_judged_by_their_heads) {
  const Plan fig2 = plan_of(experiment_named("kerple/fig2"), made_up_options(Scale::tiny));
  const double flat = 1.9 / 256, steep = 2.1 / 256;  // at 4 L
  BOOST_TEST(verdicts(fig2, {{"KERPLE-log", lines({1, flat})}})["K-F2-1"] == Verdict::pass);
  BOOST_TEST(verdicts(fig2, {{"KERPLE-log", lines({1, steep})}})["K-F2-1"] == Verdict::fail);
  const Plan fig3 = plan_of(experiment_named("kerple/fig3"), made_up_options(Scale::tiny));
  ByArm arms = {{"KERPLE-log", lines({0.1, 0.2})},
                {"KERPLE-power", lines({0.1, 0.3})},
                {"ALiBi", lines({2, 0.1})}};
  BOOST_TEST(verdicts(fig3, arms)["K-F3-1"] == Verdict::pass);
  arms["KERPLE-power"] = lines({0.1, 0.15});
  BOOST_TEST(verdicts(fig3, arms)["K-F3-1"] == Verdict::fail);
}

BOOST_AUTO_TEST_CASE(counts_of_heads_are_compared_from_8_L_on) {
  const Plan plan = plan_of(experiment_named("kerple/fig6"), made_up_options(Scale::tiny));
  const double never = 2.0 / 1e6, late = 2.0 / 1000;  // beyond and within 40 L
  ByArm arms = {{"KERPLE-log", lines({1, 1, never, never})},
                {"KERPLE-power", lines({0.01, 0.01, late, never})},
                {"ALiBi", lines({2, 0.5, 0.125, 0.03125})}};
  BOOST_TEST(verdicts(plan, arms)["K-F6-1"] == Verdict::pass);
  BOOST_TEST(verdicts(plan, arms)["K-F6-2"] == Verdict::pass);
  arms["KERPLE-log"] = lines({1, 1, late * 1.5, never});  // reached before power's
  BOOST_TEST(verdicts(plan, arms)["K-F6-2"] == Verdict::fail);
  arms["ALiBi"].lengths[0].quantities.back().value = 66;
  BOOST_TEST(verdicts(plan, arms)["K-F6-1"] == Verdict::fail);
}

BOOST_AUTO_TEST_CASE(positions_are_judged_on_text_that_rewards_them) {
  const Plan plan = plan_of(experiment_named("kerple/fig5"), made_up_options(Scale::tiny));
  ByArm arms;
  for (const char* arm : {"KERPLE-power", "T5"}) arms[arm] = by_position(plan, 20, 19, 0);
  arms["KERPLE-log"] = by_position(plan, 20, 15, -0.1);
  arms["KERPLE-log, masked at L"] = by_position(plan, 20, 16, 0.1);
  arms["ALiBi"] = by_position(plan, 20, 17, 0.1);
  std::map<std::string, Verdict> found = verdicts(plan, arms);
  for (const char* claim : {"K-F5-1", "K-F5-2", "K-F5-3"})
    BOOST_TEST(found[claim] == Verdict::pass, claim);
  arms["KERPLE-log"] = by_position(plan, 20, 15.99, 0.1);  // less than half a percent of nll
  arms["ALiBi"] = by_position(plan, 20, 15, 0.1);
  found = verdicts(plan, arms);
  for (const char* claim : {"K-F5-1", "K-F5-2", "K-F5-3"})
    BOOST_TEST(found[claim] == Verdict::fail, claim);
}

BOOST_AUTO_TEST_SUITE_END()
