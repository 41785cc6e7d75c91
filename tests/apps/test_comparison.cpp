#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/comparison.h"
#include "apps/comparison_report.h"
#include "apps/comparison_table.h"
#include "apps/csv.h"
#include "apps/gnuplot.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::apps;

namespace {

RunCell cell(const std::string& name, uint64_t seed, double perplexity, int64_t length = 64) {
  RunCell c;
  c.run = "runs/" + name + "-s" + std::to_string(seed);
  c.name = name;
  c.seed = seed;
  c.train_len = 32;
  c.setting = {{"train-len", "32"}, {"text", "0123456789abcdef/test"}};
  c.result.protocol = "last-token";
  c.result.parameters = "segments=4";
  LengthResult& at = c.result.lengths.emplace_back();
  at.length = length;
  at.tokens = "seed" + std::to_string(seed);
  at.mean_nll = std::log(perplexity);
  for (const double shift : {-0.3, 0.1, 0.0, 0.2}) at.items.push_back(at.mean_nll + shift);
  return c;
}

// Seeds 1 to 5 of a reference and a candidate whose perplexities differ by 1, 2, 3, 4, 5: the
// worked example of paired tests, t = 4.2426, p = 0.01324.
std::vector<RunCell> five_seeds() {
  std::vector<RunCell> cells;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    cells.push_back(cell("alibi", seed, 20 + static_cast<double>(seed)));
    cells.push_back(cell("kerple_log", seed, 20));
  }
  return cells;
}

const ComparedRow& row(const Comparison& in, const std::string& label) {
  for (const ComparedRow& r : in.rows)
    if (r.label == label) return r;
  BOOST_FAIL("no row " + label);
  return in.rows.front();
}

bool has_note(const Comparison& in, const std::string& part) {
  for (const std::string& note : in.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

CompareOptions with_pairs(const std::string& pairs) {
  CompareOptions options;
  options.pairs = pairs;
  return options;
}

// A cell of effective-length: of head h the number 100 h + more.
RunCell heads(const std::string& name, uint64_t seed, int n_head, double more = 0) {
  RunCell c = cell(name, seed, 1, 0);
  c.result.protocol = "effective-length";
  LengthResult& at = c.result.lengths[0];
  at = {};
  for (int h = 1; h <= n_head; ++h)
    at.quantities.push_back({"eff", 100.0 * h + more, "h" + std::to_string(h)});
  return c;
}

const ComparedRow& row_of(const Comparison& in, const std::string& label, const std::string& of) {
  for (const ComparedRow& r : in.rows)
    if (r.label == label && r.of == of) return r;
  BOOST_FAIL("no row " + label + " of " + of);
  return in.rows.front();
}

}  // namespace

BOOST_AUTO_TEST_CASE(seeds_of_one_encoding_become_mean_and_sample_deviation) {
  const auto all = comparisons_of(five_seeds(), {});
  BOOST_TEST_REQUIRE(all.size() == 1u);
  const ComparedCell& got = row(all[0], "alibi").cells.at(0);
  BOOST_TEST(got.spread.mean == 23, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(got.spread.deviation == std::sqrt(2.5), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(got.spread.n == 5);
  BOOST_TEST(all[0].reference == "kerple_log");
  BOOST_TEST(all[0].train_len == 32);
  BOOST_TEST(all[0].protocol_hash == cell("alibi", 1, 1).result.hash());
}

BOOST_AUTO_TEST_CASE(seeds_are_paired_and_a_higher_perplexity_gets_a_dagger) {
  const Comparison got = comparisons_of(five_seeds(), {}).at(0);
  const ComparedCell& candidate = row(got, "alibi").cells.at(0);
  BOOST_TEST(candidate.has_test);
  BOOST_TEST(candidate.test.mean == 3, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(candidate.test.t == 4.2426, boost::test_tools::tolerance(1e-4));
  BOOST_TEST(candidate.test.p == 0.01324, boost::test_tools::tolerance(1e-3));
  double mean_log = 0;
  for (int i = 1; i <= 5; ++i) mean_log += std::log((20.0 + i) / 20) / 5;
  BOOST_TEST(candidate.log_test.mean == mean_log, boost::test_tools::tolerance(1e-9));
  BOOST_CHECK(candidate.mark == Mark::dagger);
  BOOST_TEST(!row(got, "kerple_log").cells.at(0).has_test);
  BOOST_TEST(got.n_tests == 2);
}

BOOST_AUTO_TEST_CASE(the_other_direction_is_a_star_in_one_paper_and_nothing_in_the_other) {
  CompareOptions options;
  options.reference = "alibi";
  const Comparison s = comparisons_of(five_seeds(), options).at(0);
  BOOST_CHECK(row(s, "kerple_log").cells.at(0).mark == Mark::star);
  BOOST_TEST(row(s, "kerple_log").cells.at(0).test.mean == -3, boost::test_tools::tolerance(1e-9));
  options.marks = "K";
  const Comparison k = comparisons_of(five_seeds(), options).at(0);
  BOOST_CHECK(row(k, "kerple_log").cells.at(0).mark == Mark::none);
  BOOST_TEST(row(k, "kerple_log").cells.at(0).has_test);
}

BOOST_AUTO_TEST_CASE(other_tokens_are_named_and_leave_the_mark_out) {
  auto cells = five_seeds();
  cells[4].result.lengths[0].tokens = "elsewhere";  // alibi, seed 3
  const Comparison got = comparisons_of(cells, {}).at(0);
  BOOST_TEST(has_note(got,
                      "alibi s3 and kerple_log s3 at 64: other tokens (hash elsewhere and seed3): "
                      "not compared"));
  BOOST_TEST(!row(got, "alibi").cells.at(0).has_test);
  BOOST_CHECK(row(got, "alibi").cells.at(0).mark == Mark::none);
  BOOST_TEST(got.n_tests == 0);
}

BOOST_AUTO_TEST_CASE(other_parameters_make_another_table) {
  auto cells = five_seeds();
  for (RunCell& c : cells)
    if (c.name == "alibi") c.result.parameters = "segments=5";
  const auto all = comparisons_of(cells, {});
  BOOST_TEST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0].protocol_hash != all[1].protocol_hash);
  for (const Comparison& one : all) {
    BOOST_TEST(one.rows.size() == 1u);
    BOOST_TEST(one.n_tests == 0);
    BOOST_TEST(has_note(one, "2 choices of parameters"));
  }
  BOOST_TEST(has_note(all[0], "no kerple_log here to compare with"));
}

BOOST_AUTO_TEST_CASE(pairs_are_of_the_same_seed_and_length_alone) {
  const std::vector<RunCell> cells = {cell("kerple_log", 1, 5), cell("kerple_log", 2, 6),
                                      cell("alibi", 2, 7),      cell("alibi", 3, 8),
                                      cell("alibi", 1, 9, 128), cell("kerple_log", 2, 9, 128)};
  const Comparison got = comparisons_of(cells, {}).at(0);
  BOOST_TEST(got.lengths == (std::vector<int64_t>{64, 128}), boost::test_tools::per_element());
  BOOST_TEST(got.n_tests == 0);
  BOOST_TEST(has_note(got, "alibi: 1 seed in common with kerple_log; a test takes 2 or more"));
}

BOOST_AUTO_TEST_CASE(a_diverged_seed_stays_and_makes_the_mean_infinite) {
  auto cells = five_seeds();
  LengthResult& diverged = cells[0].result.lengths[0];
  set_failure(diverged, "nonfinite_logits", "segment 0");
  diverged.tokens = "seed1";
  const Comparison got = comparisons_of(cells, {}).at(0);
  const ComparedCell& alibi = row(got, "alibi").cells.at(0);
  BOOST_TEST(alibi.spread.mean == INFINITY);
  BOOST_TEST(alibi.spread.n == 5);
  BOOST_TEST(alibi.spread.n_nonfinite == 1);
  BOOST_TEST(!alibi.test.is_defined());
  BOOST_CHECK(alibi.mark == Mark::none);
  const std::string table = comparison_table(got);
  BOOST_TEST(table.find("inf (1 diverged)") != std::string::npos, table);
  BOOST_TEST(table.find("undefined") != std::string::npos, table);
}

BOOST_AUTO_TEST_CASE(numbers_other_than_perplexity_do_not_diverge) {
  std::vector<RunCell> cells;
  const auto add = [&](uint64_t seed, const std::vector<Quantity>& quantities) {
    cells.push_back(cell("alibi", seed, 5, 0));
    cells.back().result.protocol = "coherence";
    LengthResult& at = cells.back().result.lengths[0];
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

BOOST_AUTO_TEST_CASE(cells_that_all_failed_are_named_after_their_failure) {
  std::vector<RunCell> cells = {cell("alibi", 1, 5), cell("alibi", 2, 5)};
  for (RunCell& c : cells) set_failure(c.result.lengths[0], "nonfinite_gradient", "segment 0");
  const Comparison perplexity = comparisons_of(cells, {}).at(0);
  BOOST_TEST(perplexity.quantity == "perplexity");
  BOOST_TEST(comparison_table(perplexity).find("inf (2 diverged)") != std::string::npos);
  for (RunCell& c : cells) c.result.protocol = "gradient";
  const Comparison gradient = comparisons_of(cells, {}).at(0);
  BOOST_TEST(gradient.quantity == "result");
  BOOST_TEST(comparison_table(gradient).find("alibi          2   nan\n") != std::string::npos,
             comparison_table(gradient));
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
  const auto rows = parse_csv("x", comparison_csv(got));
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

  LengthResult& seed_1 = cells[0].result.lengths[0];
  seed_1.bytes_per_token = 0;
  const Comparison unknown = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(unknown, "alibi").cells.at(0).bits.n == 0);
  BOOST_TEST(row(unknown, "kerple_log").cells.at(0).bits.n == 5);
  BOOST_TEST(comparison_csv(unknown).find("alibi,64,bits") == std::string::npos);
  set_failure(seed_1, "nonfinite_logits", "segment 0");
  const Comparison diverged = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(diverged, "alibi").cells.at(0).bits.mean == INFINITY);
  for (RunCell& c : cells) c.result.lengths[0].bytes_per_token = 0;
  BOOST_TEST(comparison_table(comparisons_of(cells, {}).at(0)).find("bits") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(segments_are_items_of_one_seed_on_nll) {
  std::vector<RunCell> cells = {cell("kerple_log", 1, 5), cell("alibi", 1, 6),
                                cell("kerple_log", 2, 5), cell("alibi", 2, 4)};
  for (size_t i = 0; i < 4; ++i) cells[1].result.lengths[0].items[i] += 0.01 * double(i);
  const Comparison got = comparisons_of(cells, with_pairs("segments")).at(0);
  BOOST_TEST(got.rows.size() == 4u);
  const ComparedCell& first = row(got, "alibi s1").cells.at(0);
  BOOST_TEST(first.log_test.n == 4);
  BOOST_TEST(first.log_test.mean == std::log(6.0 / 5) + 0.015, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(first.test.n == 0);
  BOOST_CHECK(first.mark == Mark::dagger);
  BOOST_CHECK(row(got, "alibi s2").cells.at(0).mark == Mark::star);
  BOOST_TEST(got.n_tests == 2);
  const std::string table = comparison_table(got);
  BOOST_TEST(table.find("over the items of one seed") != std::string::npos, table);
  cells[1].result.lengths[0].items.pop_back();
  const Comparison uneven = comparisons_of(cells, with_pairs("segments")).at(0);
  BOOST_TEST(has_note(uneven, "alibi s1: no items in common with kerple_log s1"));
}

BOOST_AUTO_TEST_CASE(what_tells_rows_apart_is_in_their_labels) {
  auto cells = five_seeds();
  const size_t n = cells.size();
  for (size_t i = 0; i < n; ++i) {
    cells.push_back(cells[i]);
    cells.back().setting[0].second = "16";
    cells.back().result.lengths[0].mean_nll += 0.5;
  }
  const Comparison got = comparisons_of(cells, {}).at(0);
  BOOST_TEST(got.rows.size() == 4u);
  // Each against the reference that was trained like it.
  const ComparedCell& a = row(got, "alibi train-len=16").cells.at(0);
  BOOST_TEST(a.test.mean == 3 * std::exp(0.5), boost::test_tools::tolerance(1e-9));
  BOOST_TEST(row(got, "alibi train-len=32").cells.at(0).test.mean == 3,
             boost::test_tools::tolerance(1e-9));
  for (RunCell& c : cells)
    if (c.name == "alibi") c.setting[1].second = "fedcba9876543210/test";
  const Comparison other = comparisons_of(cells, {}).at(0);
  BOOST_TEST(has_note(other, "alibi train-len=32 text=fedcba98/test: no single kerple_log"));
}

BOOST_AUTO_TEST_CASE(runs_that_differ_in_nothing_are_refused) {
  std::vector<RunCell> cells = {cell("alibi", 1, 5), cell("alibi", 1, 6)};
  cells[1].run = "runs/copy";
  BOOST_CHECK_EXCEPTION(
      comparisons_of(cells, {}), ConfigError,
      says("[eval:compare] bad_argument: expected one run of alibi with seed 1, got ",
           "runs/alibi-s1", "runs/copy"));
}

BOOST_AUTO_TEST_CASE(other_quantities_come_with_tests_and_without_logarithms) {
  auto cells = five_seeds();
  for (RunCell& c : cells) {
    LengthResult& at = c.result.lengths[0];
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
  BOOST_TEST(table.find("† significantly higher than kerple_log, * significantly lower") !=
                 std::string::npos,
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
        "each head against the same head", "minus kerple_log   head   length   pairs"})
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
  set_failure(cells[0].result.lengths[0], "nonfinite_kernel", "a kernel of nothing but nan");
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
    LengthResult& at = cells.back().result.lengths[0];
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
  const auto rows = parse_csv("x", comparison_csv(other[0]));
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

BOOST_AUTO_TEST_CASE(filters_leave_out_and_words_are_checked) {
  auto cells = five_seeds();
  cells.push_back(cell("alibi", 1, 9, 128));
  CompareOptions options;
  options.lengths = {128};
  BOOST_TEST(comparisons_of(cells, options).at(0).lengths == std::vector<int64_t>{128},
             boost::test_tools::per_element());
  options.lengths = {4096};
  BOOST_TEST(comparisons_of(cells, options).empty());
  options = {};
  options.protocols = {"non-overlapping"};
  BOOST_TEST(comparisons_of(cells, options).empty());
  options = {};
  options.reference = "alibbi";
  BOOST_CHECK_EXCEPTION(comparisons_of(cells, options), ConfigError,
                        says("[eval:compare] bad_argument: --reference: expected one of alibi, "
                             "kerple_log, got 'alibbi'",
                             "did you mean 'alibi'?"));
  BOOST_CHECK_EXCEPTION(check(with_pairs("seed")), ConfigError,
                        says("[eval] bad_argument: --pairs: expected one of"));
  options = {};
  options.marks = "Q";
  BOOST_CHECK_EXCEPTION(check(options), ConfigError,
                        says("[eval] bad_argument: --marks: expected one of S, K"));
  options = {};
  options.protocols = {"last-tokn"};
  BOOST_CHECK_EXCEPTION(check(options), ConfigError,
                        says("[eval] bad_argument: --protocol: ", "did you mean 'last-token'?"));
}

BOOST_AUTO_TEST_CASE(the_usual_references_are_found_with_their_arguments) {
  const auto reference_among = [](const std::vector<std::string>& names) {
    std::vector<RunCell> cells;
    for (const std::string& name : names) cells.push_back(cell(name, 1, 5));
    return comparisons_of(cells, {}).at(0).reference;
  };
  BOOST_TEST(reference_among({"alibi", "rope"}) == "alibi");
  BOOST_TEST(reference_among({"alibi", "sandwich(bar_d=128)"}) == "sandwich(bar_d=128)");
  BOOST_TEST(reference_among({"sandwich", "kerple_log"}) == "kerple_log");
  BOOST_TEST(reference_among({"alibi", "kerple_log(r1=1) + window(w=4)"}) == "alibi");
  BOOST_TEST(reference_among({"alibi", "kerple_log3"}) == "alibi");
}

BOOST_AUTO_TEST_CASE(the_table_has_marks_and_says_how_many_tests_were_made) {
  const std::string table = comparison_table(comparisons_of(five_seeds(), {}).at(0));
  for (const char* part :
       {"last-token perplexity, mean ± standard deviation over seeds (segments=4; protocol ",
        "   5   23 ± 1.6 †\n", "† kerple_log is significantly better, * significantly",
        "2 tests made; nothing is corrected for their number", "4.243", "0.013"})
    BOOST_TEST(table.find(part) != std::string::npos, part << " in\n" << table);
}

BOOST_AUTO_TEST_CASE(files_hold_every_number_with_the_hash_of_its_protocol) {
  const TempFolder folder;
  auto cells = five_seeds();
  for (RunCell& c : cells)
    c.result.lengths[0].quantities = {{"half life (tokens)", double(c.seed)}};
  const auto all = comparisons_of(cells, {});
  const auto written = write_comparisons(folder.path(), all);
  BOOST_TEST_REQUIRE(written.size() == 2u);
  BOOST_TEST(written[0].filename() == "last-token.csv");
  BOOST_TEST(written[1].filename() == "last-token-half-life--tokens-.csv");
  BOOST_TEST(folder.entries() == (can_plot() ? 6 : 4));
  const auto rows = parse_csv("x", read_file(written[0]));
  const auto find = [&](const std::string& encoding, const std::string& statistic) {
    for (const auto& r : rows)
      if (r.at(6) == encoding && r.at(8) == statistic) return r;
    return std::vector<std::string>(12);
  };
  BOOST_TEST(rows[0][2] == "protocol_hash");
  BOOST_TEST(find("alibi", "mean")[2] == all[0].protocol_hash);
  BOOST_TEST(std::stod(find("alibi", "p")[11]) == 0.01324, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(find("alibi", "value")[9] == "1");
  BOOST_TEST(find("alibi", "value")[10] == "seed1");
  BOOST_TEST(find("kerple_log", "t")[11].empty());
  const auto json = nlohmann::json::parse(read_file(folder / "last-token.json"));
  BOOST_TEST(json["n_tests"] == 2);
  BOOST_TEST(json["rows"][0]["label"] == "alibi");
  BOOST_TEST(json["rows"][0]["cells"][0]["mark"] == "dagger");
  BOOST_TEST(json["rows"][0]["cells"][0]["seeds"].size() == 5u);
  BOOST_TEST(json["rows"][0]["cells"][0]["ddof"] == 1);
}

BOOST_AUTO_TEST_CASE(the_plot_has_error_bars_of_the_spread) {
  const Plot plot = comparison_plot(comparisons_of(five_seeds(), {}).at(0));
  BOOST_TEST(plot.curves.size() == 2u);
  BOOST_TEST(plot.curves[0].points[0].x == 64);
  BOOST_TEST(plot.curves[0].points[0].error == std::sqrt(2.5), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(plot.marked_x == 32);
}
