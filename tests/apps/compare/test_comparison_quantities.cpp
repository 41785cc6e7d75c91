// Quantities other than perplexity, and bits per byte beside it.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/cli/csv.h"
#include "apps/compare/comparison.h"
#include "apps/compare/plot.h"
#include "apps/compare/report.h"
#include "apps/compare/table.h"
#include "engine/base/error.h"
#include "tests/apps/compare/comparison_cells.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_comparison_quantities)

using namespace farfield;
using namespace farfield::compare;
using namespace farfield::test;

BOOST_AUTO_TEST_CASE(numbers_other_than_perplexity_do_not_diverge) {
  std::vector<RunCell> cells;
  const auto add = [&](uint64_t seed, const std::vector<eval::Quantity>& quantities) {
    cells.push_back(cell("alibi", seed, 5, 0));
    cells.back().result.protocol = "coherence";
    eval::LengthResult& at = cells.back().result.lengths[0];
    at = {};
    at.quantities = quantities;
  };
  add(1, {{"breakdown", INFINITY, "", "none"}, {"share", 0.5}, {"reached", 4}, {"shift", NAN}});
  add(2,
      {{"breakdown", INFINITY, "", "none"}, {"share", 0.5}, {"reached", INFINITY}, {"shift", 1}});
  add(3, {{"breakdown", INFINITY, "", "none"},
          {"share", 0.5},
          {"reached", 4},
          {"shift", NAN, "", "no"}});
  const auto all = comparisons_of(cells, {});
  BOOST_TEST_REQUIRE(all.size() == 4u);
  for (const Comparison& one : all)
    BOOST_TEST(comparison_table(one).find("diverged") == std::string::npos);
  BOOST_TEST(comparison_table(all[0]).find("alibi          3    none\n") != std::string::npos,
             comparison_table(all[0]));
  BOOST_TEST(comparison_table(all[1]).find("  0.5 ± 0\n") != std::string::npos,
             comparison_table(all[1]));
  BOOST_TEST(comparison_table(all[2]).find("   1 of 3 inf\n") != std::string::npos,
             comparison_table(all[2]));
  BOOST_TEST(comparison_table(all[3]).find("   1 of 3 nan, 1 of 3 no\n") != std::string::npos,
             comparison_table(all[3]));
  // Arithmetic stays what it is, and no seed is left out.
  BOOST_TEST(all[2].rows.at(0).cells.at(0).spread.mean == INFINITY);
  BOOST_TEST(std::isnan(all[3].rows.at(0).cells.at(0).spread.mean));
  const std::string csv = comparison_csv(all[2]);
  BOOST_TEST(csv.find(",nonfinite,,,1\n") != std::string::npos, csv);
  BOOST_TEST(csv.find(",seeds,,,3\n") != std::string::npos, csv);
  BOOST_TEST(csv.find("diverged") == std::string::npos, csv);
  const auto json = nlohmann::json::parse(comparison_json(all[0]))["rows"][0]["cells"][0];
  BOOST_TEST(json["n_nonfinite"] == 3);
  BOOST_TEST(!json.contains("n_diverged"));
  BOOST_TEST(json["seeds"][0]["word"] == "none");
}

BOOST_AUTO_TEST_CASE(bits_per_byte_stand_beneath_perplexity_where_all_seeds_know_their_bytes) {
  auto cells = five_seeds();
  for (RunCell& c : cells)
    c.result.lengths[0].bytes_per_token = 3.0 + static_cast<double>(c.seed);  // other texts
  // By hand: the candidate's perplexity of seed s is 20 + s.
  std::vector<double> bits;
  double mean = 0, squares = 0;
  for (int s = 1; s <= 5; ++s) bits.push_back(std::log2(20.0 + s) / (3.0 + s));
  for (const double b : bits) mean += b / 5;
  for (const double b : bits) squares += (b - mean) * (b - mean);
  const Comparison got = comparisons_of(cells, {}).at(0);
  const ComparedCell& alibi = row(got, "alibi").cells.at(0);
  BOOST_TEST(alibi.bits.n == 5);
  BOOST_TEST(alibi.bits.mean == mean, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(alibi.bits.deviation == std::sqrt(squares / 4), boost::test_tools::tolerance(1e-12));
  char text[64];
  std::snprintf(text, sizeof text, "\n  bits per byte           %.4g ± %.2g", mean,
                std::sqrt(squares / 4));
  BOOST_TEST(comparison_table(got).find(text) != std::string::npos, text << comparison_table(got));
  const auto rows = cli::parse_csv("x", comparison_csv(got));
  const auto find = [&](const std::string& statistic) {
    for (const auto& r : rows)
      if (r.at(6) == "alibi" && r.at(8) == statistic) return r;
    return std::vector<std::string>(12, "0");
  };
  BOOST_TEST(std::stod(find("bits_per_byte")[11]) == bits[0], boost::test_tools::tolerance(1e-12));
  BOOST_TEST(find("bits_per_byte")[9] == "1");
  BOOST_TEST(std::stod(find("bits_per_byte_mean")[11]) == mean,
             boost::test_tools::tolerance(1e-12));
  const auto json = nlohmann::json::parse(comparison_json(got))["rows"][0]["cells"][0];
  BOOST_TEST(json["bits_per_byte"]["mean"].get<double>() == mean,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(json["seeds"][4]["bits_per_byte"].get<double>() == bits[4],
             boost::test_tools::tolerance(1e-12));

  eval::LengthResult& seed_1 = cells[0].result.lengths[0];
  seed_1.bytes_per_token = 0;
  const Comparison unknown = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(unknown, "alibi").cells.at(0).bits.n == 0);
  BOOST_TEST(row(unknown, "kerple_log").cells.at(0).bits.n == 5);
  BOOST_TEST(comparison_csv(unknown).find("alibi,64,bits") == std::string::npos);
  eval::set_failure(seed_1, "nonfinite_logits", "segment 0");
  const Comparison diverged = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(diverged, "alibi").cells.at(0).bits.mean == INFINITY);
  for (RunCell& c : cells) c.result.lengths[0].bytes_per_token = 0;
  BOOST_TEST(comparison_table(comparisons_of(cells, {}).at(0)).find("bits") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(other_quantities_come_with_tests_and_without_logarithms) {
  auto cells = five_seeds();
  for (RunCell& c : cells) {
    eval::LengthResult& at = c.result.lengths[0];
    at.quantities = {{"erf", at.perplexity() * 10}};
  }
  const auto all = comparisons_of(cells, {});
  BOOST_TEST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[1].quantity == "erf");
  const ComparedCell& erf = row(all[1], "alibi").cells.at(0);
  BOOST_TEST(erf.test.mean == 30, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(erf.log_test.n == 0);
  BOOST_TEST(all[1].n_tests == 1);
  const std::string table = comparison_table(all[1]);
  BOOST_TEST(table.find("† higher than kerple_log, * lower than kerple_log") != std::string::npos,
             table);
  CompareOptions options;
  options.quantities = {"erf"};
  BOOST_TEST(comparisons_of(cells, options).size() == 1u);
  options.quantities = {"erff"};
  BOOST_CHECK_EXCEPTION(
      comparisons_of(cells, options), ConfigError,
      says("[eval:compare] bad_argument: --quantity: expected one of perplexity, erf, got 'erff'",
           "did you mean 'erf'?"));
}

BOOST_AUTO_TEST_CASE(a_number_of_a_head_meets_the_same_head_alone) {
  const std::vector<RunCell> cells = {heads("alibi", 1, 12, 1), heads("kerple_log", 1, 11),
                                      heads("alibi", 2, 12, 3), heads("kerple_log", 2, 11)};
  const auto all = comparisons_of(cells, {});
  BOOST_TEST_REQUIRE(all.size() == 1u);
  const Comparison& got = all[0];
  BOOST_TEST(got.has_parts());
  BOOST_TEST_REQUIRE(got.rows.size() == 23u);
  // Head by head, in their order and not that of the alphabet.
  for (size_t i = 0; i < 23; ++i) {
    BOOST_TEST(got.rows[i].of == "h" + std::to_string(i / 2 + 1));
    BOOST_TEST(got.rows[i].label == (i % 2 == 0 ? "alibi" : "kerple_log"));
  }
  for (int h = 1; h <= 11; ++h) {
    const ComparedCell& own = row_of(got, "alibi", "h" + std::to_string(h)).cells.at(0);
    BOOST_TEST(own.spread.mean == 100.0 * h + 2);
    BOOST_TEST(own.spread.n == 2);
    BOOST_TEST(own.test.mean == 2);
  }
  BOOST_TEST(!row_of(got, "alibi", "h12").cells.at(0).has_test);
  BOOST_TEST(row_of(got, "alibi", "h12").cells.at(0).spread.mean == 1202);
  BOOST_TEST(has_note(got, "alibi: kerple_log has nothing of h12 to hold it against"));
  BOOST_TEST(got.notes.size() == 1u);
  BOOST_TEST(got.n_tests == 11);

  const std::string table = comparison_table(got);
  for (const char* part :
       {"effective-length eff of each head, mean", "encoding     head   seeds", "kerple_log    h11",
        "each head against the same head", "difference to kerple_log   head   length   pairs"})
    BOOST_TEST(table.find(part) != std::string::npos, part << " in\n" << table);
  BOOST_TEST(comparison_remark(got) ==
             "effective-length eff of each head (h1 to h12), 11 tests: in the files alone; "
             "--quantity eff shows them\n");
  const std::string csv = comparison_csv(got);
  BOOST_TEST(csv.find(",eff h3,seeds,kerple_log,alibi,0,mean,,,302\n") != std::string::npos, csv);
  BOOST_TEST(csv.find(",eff,") == std::string::npos, csv);
  const auto json = nlohmann::json::parse(comparison_json(got));
  BOOST_TEST(json["rows"][2]["of"] == "h2");
}

BOOST_AUTO_TEST_CASE(heads_can_be_asked_for_one_by_one) {
  const std::vector<RunCell> cells = {heads("alibi", 1, 3), heads("kerple_log", 1, 3)};
  CompareOptions options;
  options.quantities = {"eff h3", "eff h1"};
  const auto all = comparisons_of(cells, options);
  BOOST_TEST_REQUIRE(all.size() == 1u);
  BOOST_TEST_REQUIRE(all[0].rows.size() == 4u);
  BOOST_TEST(all[0].rows[0].of == "h1");
  BOOST_TEST(all[0].rows[2].of == "h3");
  options.quantities = {"eff h4"};
  BOOST_CHECK_EXCEPTION(
      comparisons_of(cells, options), ConfigError,
      says("[eval:compare] bad_argument: --quantity: expected one of eff, got 'eff h4'",
           "did you mean"));
}

BOOST_AUTO_TEST_CASE(a_cell_that_failed_counts_for_the_heads_of_its_other_seeds) {
  std::vector<RunCell> cells = {heads("alibi", 1, 2), heads("alibi", 2, 2)};
  eval::set_failure(cells[0].result.lengths[0], "nonfinite_kernel", "a kernel of nothing but nan");
  const Comparison got = comparisons_of(cells, {}).at(0);
  BOOST_TEST_REQUIRE(got.rows.size() == 2u);
  for (const ComparedRow& r : got.rows) {
    BOOST_TEST(r.cells.at(0).spread.n == 2);
    BOOST_TEST(std::isnan(r.cells.at(0).seeds.at(0).value));
  }
}

// Seconds a step of KERPLE, table 4: T5 0.340, rotary 0.332, log 0.307, ALiBi 0.302; the paper says
// that log is 9.7 percent faster than T5 and 1.6 percent slower than ALiBi.
BOOST_AUTO_TEST_CASE(speed_has_ratios_to_the_reference_and_percents_as_the_paper_counts) {
  std::vector<RunCell> cells;
  const auto add = [&](const std::string& name, uint64_t seed, double step_s, double mib) {
    cells.push_back(cell(name, seed, 5, 0));
    cells.back().result.protocol = "speed";
    eval::LengthResult& at = cells.back().result.lengths[0];
    at = {};
    at.quantities = {
        {"train_step_s", step_s}, {"train_tokens_per_s", 1 / step_s}, {"train_peak_mib", mib}};
  };
  add("kerple_log", 1, 0.306, 200);
  add("kerple_log", 2, 0.308, 200);
  add("t5", 1, 0.340, 300);
  add("alibi", 1, 0.302, 0);
  CompareOptions options;
  options.reference = "t5";
  const auto all = comparisons_of(cells, options);
  BOOST_TEST_REQUIRE(all.size() == 3u);
  const ComparedRow& log = row(all[0], "kerple_log");
  BOOST_TEST(log.cells.at(0).ratio == 0.307 / 0.340, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(row(all[0], "t5").cells.at(0).ratio == 1);
  BOOST_TEST(all[0].is_time());
  BOOST_TEST(!all[1].is_time());
  const std::string table = comparison_table(all[0]);
  for (const char* part :
       {"ratio   % faster\n", "0.9029        9.7\n", "ratio: to the mean of t5; "})
    BOOST_TEST(table.find(part) != std::string::npos, part << " in\n" << table);
  const std::string per_s = comparison_table(all[1]);
  BOOST_TEST(per_s.find("faster") == std::string::npos, per_s);
  BOOST_TEST(per_s.find("   1.108\n") != std::string::npos, per_s);
  // 0 MiB have a ratio; nothing has one to them.
  BOOST_TEST(row(all[2], "alibi").cells.at(0).ratio == 0);
  options.reference = "alibi";
  const auto other = comparisons_of(cells, options);
  BOOST_TEST(!other[2].has_ratios());
  const auto rows = cli::parse_csv("x", comparison_csv(other[0]));
  const auto find = [&](const std::string& statistic) {
    for (const auto& r : rows)
      if (r.at(6) == "kerple_log" && r.at(8) == statistic) return std::stod(r.at(11));
    return std::nan("");
  };
  BOOST_TEST(find("ratio") == 0.307 / 0.302, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(find("percent_faster") == -1.6556, boost::test_tools::tolerance(1e-4));
  const auto json = nlohmann::json::parse(comparison_json(other[0]))["rows"][0]["cells"][0];
  BOOST_TEST(json["ratio"].get<double>() == 0.307 / 0.302, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(json.contains("percent_faster"));
  // Perplexities have none.
  BOOST_TEST(!comparisons_of(five_seeds(), {}).at(0).has_ratios());
}

BOOST_AUTO_TEST_CASE(a_length_of_0_is_one_where_lengths_are_no_tokens) {
  std::vector<RunCell> cells;
  for (const int64_t garbage : {0, 500}) {
    for (const uint64_t seed : {1, 2}) {
      cells.push_back(cell("alibi", seed, 5, garbage));
      cells.back().result.protocol = "passkey";
      eval::LengthResult& at = cells.back().result.lengths[0];
      at = {};
      at.length = garbage;
      at.quantities = {{"accuracy", garbage == 0 ? 1 : 0.25}};
    }
  }
  const auto all = comparisons_of(cells, {});
  BOOST_TEST_REQUIRE(all.size() == 1u);
  const std::string table = comparison_table(all[0]);
  BOOST_TEST(table.find("encoding   seeds       0        500\n") != std::string::npos, table);
  const plot::Plot plot = comparison_plot(all[0]);
  BOOST_TEST(plot.x_label == "characters of garbage");
  BOOST_TEST(!plot.is_log_x);
  BOOST_TEST(plot.marked_x == 0);
  BOOST_TEST_REQUIRE(plot.curves.at(0).points.size() == 2u);
  BOOST_TEST(plot.curves[0].points[0].x == 0);
}

BOOST_AUTO_TEST_SUITE_END()
