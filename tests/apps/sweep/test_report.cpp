#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>

#include "apps/sweep/reference.h"
#include "apps/sweep/report.h"
#include "apps/sweep/sections.h"
#include "engine/base/file.h"
#include "tests/apps/sweep/sweep_fixture.h"
#include "tests/support/markup.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::sweep;

namespace {

Results results_of(const Plan& plan, const std::map<std::string, std::vector<double>>& nll) {
  Results results;
  for (size_t a = 0; a < plan.arms.size(); ++a)
    for (size_t s = 0; s < plan.seeds.size(); ++s) {
      const auto found = nll.find(plan.arms[a].label());
      if (found == nll.end()) continue;
      std::vector<double> values = found->second;
      for (double& x : values) x += 0.001 * static_cast<double>(s);
      results.add(made_up_result(plan, plan.cell(0, a, s), "P1", values));
    }
  return results;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_report)

BOOST_AUTO_TEST_CASE(the_papers_numbers_are_all_there) {
  std::map<std::string, int> rows;
  for (const PrintedNumber& n : printed_numbers()) ++rows[n.experiment];
  BOOST_TEST(rows["sandwich/table1"] == 85);
  BOOST_TEST(rows["sandwich/table3"] == 105);
  BOOST_TEST(rows["kerple/table3"] == 108);
  BOOST_TEST(rows["kerple/table10"] == 14);
  BOOST_TEST(claims().size() == 104U);
  BOOST_TEST(find_claim("S-T2-4")->in_paper == "fails");
  BOOST_TEST(printed_scalar("sandwich/fig4", "ERF w=120") == "768");
}

BOOST_AUTO_TEST_CASE(numbers_stand_under_their_model_and_missing_ones_are_shown) {
  const Experiment e = two_models();
  const Plan plan = plan_of(e, made_up_options(Scale::tiny));
  const Section section = section_of(plan, results_of(plan, {{"ALiBi", {std::log(4.0), 1.6}}}));
  const ReportTable& table = section.tables.front();
  BOOST_TEST(table.header[1] == "ALiBi");
  BOOST_TEST(table.rows[0][0].text == "64");
  BOOST_TEST(table.rows[0][1].text == "4");
  BOOST_TEST(table.rows[0][2].text == "–");
  BOOST_TEST(table.rows[0][1].is_best);
  BOOST_TEST(section.n_done == 1);
  BOOST_TEST(section.n_cells == 2);
}

BOOST_AUTO_TEST_CASE(marks_come_with_two_seeds) {
  const Experiment e = two_models();
  PlanOptions options = made_up_options(Scale::tiny);
  options.seeds = 3;
  const Plan plan = plan_of(e, options);
  const Section section =
      section_of(plan, results_of(plan, {{"ALiBi", {1.5, 1.5}}, {"Rotary", {1.5, 3}}}));
  const ReportTable& table = section.tables.front();
  BOOST_TEST(table.rows[1][2].text.find("†") != std::string::npos);
  BOOST_TEST(table.rows[1][2].text.find("±") != std::string::npos);
  BOOST_TEST(table.rows[1][1].text.find("†") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_papers_table_stands_beside_ours) {
  const Plan plan = plan_of(experiment_named("sandwich/table3"), made_up_options(Scale::tiny));
  const Section section = section_of(plan, {});
  std::vector<const ReportTable*> printed;
  for (const ReportTable& table : section.tables)
    if (table.is_papers) printed.push_back(&table);
  BOOST_REQUIRE(printed.size() == 4U);  // three texts (topic was never printed), and other numbers
  const ReportTable& arxiv = *printed[1];
  BOOST_TEST(arxiv.header[1] == "Sandwich");
  BOOST_TEST(arxiv.rows[0][0].text == "512");
  BOOST_TEST(arxiv.rows[0][1].text.rfind("5.27 ± 0.33", 0) == 0);
  BOOST_TEST(printed.back()->rows.size() == printed_scalars_of("sandwich/table3").size());
}

BOOST_AUTO_TEST_CASE(claims_for_the_published_size_are_not_judged_below_it) {
  const Plan plan = plan_of(experiment_named("sandwich/table1"), made_up_options(Scale::tiny));
  for (const Judgement& j : judgements_of(plan, {})) {
    // What is asked of printed numbers needs no model.
    const Verdict expected = j.claim == "S-T1-11" ? Verdict::pass : Verdict::not_run;
    BOOST_TEST((j.evidence.verdict() == expected), j.claim);
    BOOST_TEST(!j.statement.empty(), j.claim);
  }
}

BOOST_AUTO_TEST_CASE(
    claims_for_the_published_size_are_judged_at_brief_but_for_those_that_need_steps) {
  const auto verdict = [](Scale scale, const std::string& claim, const PlanOptions& options) {
    PlanOptions of = options;
    of.scale = scale;
    const Plan plan = plan_of(experiment_named("sandwich/table3"), of);
    const Results results = results_of(plan, {{"Sandwich", {4, 3.9, 3.9, 3.9, 4}},
                                              {"Smoothed", {4, 3.9, 3.9, 3.9, 4}},
                                              {"KERPLE-log", {3, 3, 3, 3, 3.1}},
                                              {"T5", {3, 3, 3, 3, 3.1}}});
    for (const Judgement& j : judgements_of(plan, results))
      if (j.claim == claim) return j.evidence.verdict();
    return Verdict::fail;
  };
  PlanOptions options;
  for (const char* name : {"github", "arxiv", "openwebtext2"})
    options.datasets.set(name, "code", {"code", "hash of code", "code"});
  BOOST_TEST((verdict(Scale::brief, "S-T3-8", options) == Verdict::pass));
  BOOST_TEST((verdict(Scale::brief, "S-T3-9", options) == Verdict::not_run));
  BOOST_TEST((verdict(Scale::paper, "S-T3-9", options) == Verdict::pass));
  BOOST_TEST((verdict(Scale::tiny, "S-T3-8", options) == Verdict::not_run));
}

BOOST_AUTO_TEST_CASE(a_grid_of_ones_own_is_told_with_its_own_settings_and_tests) {
  const TempFolder temp;
  SweepFolder folder(temp.path() / "sweep", made_up_options(Scale::smoke));
  folder.add_grid("mine",
                  "encoding = rope\nencoding = alibi + window(16)\nlabel = linear\nseeds = 3\n"
                  "lengths = 32, 64\ntrain.steps = 100\ntrain.clip = 0.25\n");
  const Plan plan = folder.plans().front();
  Results results;
  const double changes[] = {0.5, 0.51, 0.49};
  for (size_t seed = 0; seed < 3; ++seed) {
    results.add(made_up_result(plan, plan.cell(0, 0, seed), "last-token", {2, 3}));
    results.add(made_up_result(plan, plan.cell(0, 1, seed), "last-token",
                               {2 + changes[seed], 3 - changes[seed]}));
  }
  const Report report = report_of(folder, results);
  const std::vector<std::vector<std::string>> no_figures(
      1, std::vector<std::string>(report.sections.front().figures.size()));
  const std::string text = report_markdown(report, no_figures);
  const auto has = [&](const std::string& part) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " is not in " << text);
  };
  has("* trained: 2 layers, 4 heads, width 32; 100 steps of 32 x 32 tokens, peak learning rate "
      "0.003, clip 0.25\n");
  has("* linear: alibi + window(16)\n");
  has("| tokens | rope | linear |");
  has("    paired tests on text\n");
  has("    difference to rope ");
  has("\n    linear ");
  for (const char* of_papers : {"600 steps", "times steeper", "## Findings", "papers"})
    BOOST_TEST(text.find(of_papers) == std::string::npos, of_papers);
  const std::string page = report_html(report, no_figures);
  BOOST_TEST(page.find("<pre>paired tests on text") != std::string::npos);
  BOOST_TEST(page.find("Findings") == std::string::npos);
  // Beside experiments of the papers both are told.
  folder.add({&experiment_named("sandwich/table3")}, {});
  const std::string both = report_of(folder, {}).facts.front().second;
  BOOST_TEST(both.find("600 steps") != std::string::npos);
  BOOST_TEST(both.find("a grid of your own is told in its section") != std::string::npos);
  BOOST_TEST(section_of(folder.plans().back(), {}).blocks.front().find("seeds = 3") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(own_tests_are_of_what_was_measured_as_the_reference_was) {
  const TempFolder temp;
  SweepFolder folder(temp.path() / "sweep", made_up_options(Scale::smoke));
  folder.add_grid("mine",
                  "encoding = rope\nencoding = alibi\nencoding = none\nseeds = 2\n"
                  "lengths = 32, 64\n");
  const Plan plan = folder.plans().front();
  Results results;
  for (size_t arm = 0; arm < 3; ++arm)
    for (size_t seed = 0; seed < 2; ++seed) {
      CellResult result = made_up_result(plan, plan.cell(0, arm, seed), "last-token",
                                         {2 + 0.1 * static_cast<double>(arm + seed * arm), 3});
      if (arm == 1)
        for (auto& [id, of] : result.measured) of.parameters = "others";
      results.add(result);
    }
  const std::string text = section_of(plan, results).blocks.front();
  BOOST_TEST(text.find("paired tests on text\n") == 0u, text);
  BOOST_TEST(text.find("\nnone ") != std::string::npos, text);
  BOOST_TEST(
      text.find("last-token: left out, as measured with other parameters than rope: alibi") !=
          std::string::npos,
      text);
  Results without;  // the reference
  for (size_t seed = 0; seed < 2; ++seed)
    without.add(made_up_result(plan, plan.cell(0, 1, seed), "last-token", {2, 3}));
  BOOST_TEST(section_of(plan, without).blocks.front().find("no paired tests against rope") == 0u);
  Results few;  // seeds of one encoding
  for (size_t seed = 0; seed < 2; ++seed)
    few.add(made_up_result(plan, plan.cell(0, 0, seed), "last-token", {2, 3}));
  few.add(made_up_result(plan, plan.cell(0, 1, 0), "last-token", {2.5, 3}));
  const std::string one = section_of(plan, few).blocks.front();
  for (const char* of_compare : {"--pairs", "--protocol-hash"})
    BOOST_TEST(one.find(of_compare) == std::string::npos, one);
}

BOOST_AUTO_TEST_CASE(a_page_is_whole_by_itself_and_takes_hostile_names) {
  const TempFolder temp;
  const auto path = temp.path() / "sweep";
  PlanOptions options = made_up_options(Scale::tiny);
  options.datasets.set("arxiv", "<b>&\"x|y", {"p", "hash of arxiv", "<script>alert(1)</script>"});
  SweepFolder folder(path, options);
  folder.add({&experiment_named("sandwich/table3")}, {});
  folder.add_grid("mine", "encoding = alibi\n");
  folder.save();
  const std::vector<Plan> plans = folder.plans();
  Results results;
  results.add(made_up_result(plans[0], plans[0].cells.front(), "P1", {1, 1.1, 1.2, 1.3, 1.4}));
  const auto to = temp.path() / "report";
  std::string why;
  write_report(to, folder, results, why);
  const std::string html = read_file(to / "index.html");
  // The script at the end is no markup.
  const size_t script = html.find("<script>"), after = html.find("</script>");
  BOOST_TEST(test::parse_markup(html.substr(0, script) + html.substr(after + 9)).fault == "");
  BOOST_TEST(html.find("<script>alert") == std::string::npos);
  BOOST_TEST(html.find("<b>&\"x") == std::string::npos);
  BOOST_TEST(html.find("src=") == std::string::npos);
  BOOST_TEST(html.find("<link") == std::string::npos);
  BOOST_TEST(html.find("NOT RUN") != std::string::npos);
  const std::string markdown = read_file(to / "report.md");
  BOOST_TEST(markdown.find("| S-T3-1 |") != std::string::npos);
  const std::string csv = read_file(to / "report.csv");
  BOOST_TEST(csv.find("sandwich/table3") != std::string::npos);
  BOOST_TEST(csv.find("23.5,3.8") != std::string::npos);  // beside ours at 512 tokens
  BOOST_TEST(read_file(to / "claims.csv").find("NOT RUN") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
