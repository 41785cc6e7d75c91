#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/cli/csv.h"
#include "apps/compare/comparison.h"
#include "apps/compare/plot.h"
#include "apps/compare/report.h"
#include "apps/compare/table.h"
#include "apps/plot/gnuplot.h"
#include "apps/run/labels.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/compare/comparison_cells.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_comparison)

using namespace farfield;
using namespace farfield::compare;
using namespace farfield::test;

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
  BOOST_CHECK(candidate.mark == analysis::Mark::dagger);
  BOOST_TEST(!row(got, "kerple_log").cells.at(0).has_test);
  BOOST_TEST(got.n_tests == 1);  // the one that decides
}

BOOST_AUTO_TEST_CASE(the_other_direction_is_a_star_in_one_paper_and_nothing_in_the_other) {
  CompareOptions options;
  options.reference = "alibi";
  const Comparison s = comparisons_of(five_seeds(), options).at(0);
  BOOST_CHECK(row(s, "kerple_log").cells.at(0).mark == analysis::Mark::star);
  BOOST_TEST(row(s, "kerple_log").cells.at(0).test.mean == -3, boost::test_tools::tolerance(1e-9));
  options.marks = "kerple-paper";
  const Comparison k = comparisons_of(five_seeds(), options).at(0);
  BOOST_TEST(sign_of(row(k, "kerple_log").cells.at(0).mark, k.marks, true) == " ");
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
  BOOST_CHECK(row(got, "alibi").cells.at(0).mark == analysis::Mark::none);
  BOOST_TEST(got.n_tests == 0);
}

BOOST_AUTO_TEST_CASE(of_two_measurements_the_newest_is_compared_and_the_other_named) {
  using namespace std::chrono_literals;
  auto cells = five_seeds();
  for (const RunCell& c : five_seeds()) {
    cells.push_back(c);
    cells.back().result.parameters = "segments=5";
  }
  const std::string first = cells.front().result.hash(), second = cells.back().result.hash();
  const auto hash_shown = [&](const CompareOptions& options) {
    const auto all = comparisons_of(cells, options);
    BOOST_TEST_REQUIRE(all.size() == 1u);
    return all[0].protocol_hash;
  };
  cells[3].time += 1h;  // one new cell decides, wherever it stands
  BOOST_TEST(hash_shown({}) == first);
  cells.back().time += 2h;
  BOOST_TEST(hash_shown({}) == second);
  BOOST_TEST(has_note(comparisons_of(cells, {}).at(0),
                      "this is the newest of 2 measurements of last-token; --protocol-hash shows "
                      "another: " +
                          first + " (segments=4, 10 runs)"));
  CompareOptions options;
  options.protocol_hashes = {first.substr(0, 6)};
  BOOST_TEST(hash_shown(options) == first);
  options.protocol_hashes = {first, second};
  BOOST_TEST(comparisons_of(cells, options).size() == 2u);
  options.protocol_hashes = {"xyz"};
  BOOST_CHECK_EXCEPTION(comparisons_of(cells, options), ConfigError,
                        says("[eval:compare] bad_argument: --protocol-hash: expected one of "
                             "last-token " +
                                 first + " (segments=4, 10 runs), last-token " + second,
                             "got 'xyz'"));
}

BOOST_AUTO_TEST_CASE(names_of_files_depend_on_what_was_asked_for_alone) {
  const auto names = [](bool with_hash, const std::string& parameters) {
    auto cells = five_seeds();
    for (RunCell& c : cells) c.result.parameters = parameters;
    const TempFolder folder;
    return write_comparisons(folder.path(), comparisons_of(cells, {}), with_hash)
        .at(0)
        .filename()
        .string();
  };
  BOOST_TEST(names(false, "segments=4") == "last-token.csv");
  BOOST_TEST(names(false, "segments=5") == "last-token.csv");
  BOOST_TEST(names(true, "segments=4") ==
             "last-token-" + five_seeds().front().result.hash().substr(0, 8) + ".csv");
}

BOOST_AUTO_TEST_CASE(numbers_of_other_parameters_are_not_compared) {
  auto cells = five_seeds();
  for (RunCell& c : cells)
    if (c.name == "alibi") c.result.parameters = "segments=5";
  CompareOptions options;
  for (const RunCell& c : cells) options.protocol_hashes.push_back(c.result.hash());
  const auto all = comparisons_of(cells, options);
  BOOST_TEST_REQUIRE(all.size() == 2u);
  for (const Comparison& one : all) {
    BOOST_TEST(one.rows.size() == 1u);
    BOOST_TEST(one.n_tests == 0);
  }
  BOOST_TEST(has_note(all[0], "no kerple_log here to compare with"));
}

BOOST_AUTO_TEST_CASE(a_mark_says_something_of_the_row_that_it_stands_at) {
  auto cells = five_seeds();  // alibi is worse than kerple_log
  const auto table = [&](const std::string& reference, const std::string& marks) {
    CompareOptions options;
    options.reference = reference;
    options.marks = marks;
    return comparison_table(comparisons_of(cells, options).at(0));
  };
  const auto has = [](const std::string& text, const std::string& part) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
  };
  const std::string test = ": paired two-sided t-test over seeds, alpha 0.05";
  has(table("kerple_log", "rows"), "   5   23 ± 1.6 *\n");
  has(table("kerple_log", "rows"), "\n† better than kerple_log, * worse than kerple_log" + test);
  has(table("alibi", "rows"), "   5     20 ± 0 †\n");
  has(table("alibi", "rows"), "\n† better than alibi, * worse than alibi" + test);
  has(table("kerple_log", "paper"), "   5   23 ± 1.6 †\n");
  has(table("kerple_log", "paper"), "\n† worse than kerple_log, * better than kerple_log" + test);
  has(table("alibi", "paper"), "   5     20 ± 0 *\n");
  has(table("kerple_log", "kerple-paper"), "   5   23 ± 1.6 †\n");
  has(table("alibi", "kerple-paper"), "\n† worse than alibi" + test);
  BOOST_TEST(table("alibi", "kerple-paper").find('*') == std::string::npos);
  const Comparison one = comparisons_of(cells, {}).at(0);
  has(comparison_json(one), "\"mark\": \"worse\"");
  has(comparison_csv(one), ",alibi,64,mark,,,worse\n");
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
  eval::LengthResult& diverged = cells[0].result.lengths[0];
  eval::set_failure(diverged, "nonfinite_logits", "segment 0");
  diverged.tokens = "seed1";
  const Comparison got = comparisons_of(cells, {}).at(0);
  const ComparedCell& alibi = row(got, "alibi").cells.at(0);
  BOOST_TEST(alibi.spread.mean == INFINITY);
  BOOST_TEST(alibi.spread.n == 5);
  BOOST_TEST(alibi.spread.n_nonfinite == 1);
  BOOST_TEST(!alibi.test.is_defined());
  BOOST_CHECK(alibi.mark == analysis::Mark::none);
  const std::string table = comparison_table(got);
  BOOST_TEST(table.find("inf (1 diverged)") != std::string::npos, table);
  BOOST_TEST(table.find("undefined") != std::string::npos, table);
}

BOOST_AUTO_TEST_CASE(cells_that_all_failed_are_named_after_their_failure) {
  std::vector<RunCell> cells = {cell("alibi", 1, 5), cell("alibi", 2, 5)};
  for (RunCell& c : cells)
    eval::set_failure(c.result.lengths[0], "nonfinite_gradient", "segment 0");
  const Comparison perplexity = comparisons_of(cells, {}).at(0);
  BOOST_TEST(perplexity.quantity == "perplexity");
  BOOST_TEST(comparison_table(perplexity).find("inf (2 diverged)") != std::string::npos);
  for (RunCell& c : cells) c.result.protocol = "gradient";
  const Comparison gradient = comparisons_of(cells, {}).at(0);
  BOOST_TEST(gradient.quantity == "result");
  BOOST_TEST(comparison_table(gradient).find("alibi          2   nan\n") != std::string::npos,
             comparison_table(gradient));
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
  BOOST_CHECK(first.mark == analysis::Mark::dagger);
  BOOST_CHECK(row(got, "alibi s2").cells.at(0).mark == analysis::Mark::star);
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
  BOOST_CHECK_EXCEPTION(
      check(options), ConfigError,
      says("[eval] bad_argument: --marks: expected one of rows, paper, kerple-paper"));
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
       {"last-token perplexity, mean ± standard deviation over seeds\nencoding",
        "   5   23 ± 1.6 *\n", "† better than kerple_log, * worse than kerple_log: paired",
        "over seeds, alpha 0.05\n",
        "difference to kerple_log   length   pairs   in perplexity    95 % interval       t       "
        "p",
        "1.037 to 4.963", "4.243", "0.013",
        "\n1 test decides the mark; no multiple-comparison correction\n",
        "\nEach seed reads its own text. ± is the standard deviation over seeds and includes the "
        "difference between texts; paired differences do not.\n"})
    BOOST_TEST(table.find(part) != std::string::npos, part << " in\n" << table);
  for (const char* part : {"segments=4", "hash", "nll"})
    BOOST_TEST(table.find(part) == std::string::npos, part << " in\n" << table);
}

BOOST_AUTO_TEST_CASE(parameters_and_hash_come_with_verbose_alone) {
  const Comparison one = comparisons_of(five_seeds(), {}).at(0);
  const std::string verbose = comparison_table(one, true);
  BOOST_TEST(verbose.starts_with("last-token perplexity, mean ± standard deviation over seeds\n"),
             verbose);
  BOOST_TEST(
      verbose.ends_with("\nprotocol: last-token segments=4, hash " + one.protocol_hash + '\n'),
      verbose);
  BOOST_TEST(
      verbose.find("alpha 0.05, on perplexity; the CSV has the test on nll\n") != std::string::npos,
      verbose);
}

BOOST_AUTO_TEST_CASE(two_measurements_of_a_protocol_are_told_apart_by_what_differs) {
  auto cells = five_seeds();
  for (RunCell& c : cells) c.result.parameters = "segments=4 set=per-seed";
  for (const RunCell& c : five_seeds()) {
    cells.push_back(c);
    cells.back().result.parameters = "segments=5 set=per-seed";
  }
  CompareOptions both;
  both.protocol_hashes = {cells.front().result.hash(), cells.back().result.hash()};
  const auto all = comparisons_of(cells, both);
  BOOST_TEST_REQUIRE(all.size() == 2u);
  for (const auto& [one, differing] :
       {std::pair(&all[0], "segments=4"), std::pair(&all[1], "segments=5")})
    BOOST_TEST(
        comparison_table(*one).starts_with(concat(
            "last-token perplexity, mean ± standard deviation over seeds (", differing, ")\n")),
        comparison_table(*one));
  // What another call needs for the other is said in full.
  BOOST_TEST(
      comparison_table(all[0]).find("--protocol-hash shows another: " + all[1].protocol_hash +
                                    " (segments=5 set=per-seed, 10 runs)\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_table_says_how_many_tokens_each_seed_scores) {
  auto cells = five_seeds();
  for (RunCell& c : cells) c.result.lengths[0].n_scored = 100;
  const auto said = [&] { return comparison_table(comparisons_of(cells, {}).at(0)); };
  BOOST_TEST(said().find("\nEach seed scores 100 tokens of its own text. ±") != std::string::npos,
             said());
  for (RunCell& c : cells) c.result.lengths[0].tokens = "alike";
  BOOST_TEST(said().find("\nAll seeds score the same 100 tokens. ±") != std::string::npos, said());
  cells.front().result.lengths[0].n_scored = 1;
  BOOST_TEST(said().find("the same 1 to 100 tokens.") != std::string::npos, said());
  cells.resize(1);
  BOOST_TEST(said().find("\nEach seed scores 1 token at each length.\n") != std::string::npos,
             said());
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
  BOOST_TEST(folder.entries() == (plot::can_plot() ? 6 : 4));
  const auto rows = cli::parse_csv("x", read_file(written[0]));
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
  BOOST_TEST(json["n_tests"] == 1);
  BOOST_TEST(json["decided_on"] == "perplexity");
  // The other test, which decides nothing.
  BOOST_TEST(std::stod(find("alibi", "nll_p")[11]) < 0.05);
  BOOST_TEST(std::stod(find("alibi", "difference_low")[11]) == 1.0368,
             boost::test_tools::tolerance(1e-4));
  BOOST_TEST(std::stod(find("alibi", "difference_high")[11]) == 4.9632,
             boost::test_tools::tolerance(1e-4));
  BOOST_TEST(json["rows"][0]["label"] == "alibi");
  BOOST_TEST(json["rows"][0]["cells"][0]["mark"] == "worse");
  BOOST_TEST(json["rows"][0]["cells"][0]["seeds"].size() == 5u);
  BOOST_TEST(json["rows"][0]["cells"][0]["ddof"] == 1);
}

BOOST_AUTO_TEST_CASE(what_was_tested_is_drawn_as_a_difference_with_its_interval) {
  const Comparison tested = comparisons_of(five_seeds(), {}).at(0);
  const plot::Plot means = comparison_plot(tested), differences = difference_plot(tested);
  BOOST_TEST(means.title == "Last-token perplexity, mean over 5 seeds");
  BOOST_TEST(means.curves.size() == 2u);
  BOOST_TEST(means.curves[0].points[0].x == 64);
  BOOST_TEST(means.curves[0].points[0].error == 0);  // the spread would hide what the pairs show
  BOOST_TEST(means.marked_x == 32);
  BOOST_TEST(differences.title == "Difference to kerple_log, 95 % interval");
  BOOST_TEST(differences.y_label == "difference in perplexity");
  BOOST_TEST_REQUIRE(differences.curves.size() == 1u);
  BOOST_TEST(differences.curves[0].label == "alibi");
  BOOST_TEST(differences.curves[0].style == 0);
  BOOST_TEST(differences.curves[0].points[0].y == 3, boost::test_tools::tolerance(1e-9));
  // t of 4 degrees of freedom, 2.776445, by the standard error.
  BOOST_TEST(differences.curves[0].points[0].error == 2.776445 * std::sqrt(2.5 / 5),
             boost::test_tools::tolerance(1e-6));
  if (!plot::can_plot()) return;
  const std::string svg = comparison_svg(tested);
  BOOST_TEST(svg.find("Difference to kerple_log, 95 % interval") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(pairs_of_segments_are_drawn_in_nll) {
  const Comparison of_items =
      comparisons_of({cell("kerple_log", 1, 5), cell("alibi", 1, 6)}, with_pairs("segments")).at(0);
  BOOST_TEST(difference_plot(of_items).y_label == "difference in nll");
  const std::string table = comparison_table(of_items, true);
  BOOST_TEST(table.find("alpha 0.05, on nll\n") != std::string::npos, table);
}

BOOST_AUTO_TEST_CASE(without_a_test_the_plot_has_error_bars_of_the_spread) {
  auto cells = five_seeds();
  std::erase_if(cells, [](const RunCell& c) { return c.name == "kerple_log"; });
  const Comparison untested = comparisons_of(cells, {}).at(0);
  const plot::Plot plot = comparison_plot(untested);
  BOOST_TEST(plot.curves[0].points[0].error == std::sqrt(2.5), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(plot.y_label == "perplexity, mean ± standard deviation");
  BOOST_TEST(!plot::has_points(difference_plot(untested)));
}

BOOST_AUTO_TEST_CASE(the_table_says_what_the_spread_holds) {
  auto cells = five_seeds();
  const auto said = [&] { return comparison_table(comparisons_of(cells, {}).at(0)); };
  const auto check = [&](const char* part) {
    BOOST_TEST(said().find(part) != std::string::npos, said());
  };
  for (RunCell& c : cells) c.result.parameters = "segments=4 set=per-seed longest=64";
  check("Each seed reads its own text. ± ");
  for (RunCell& c : cells) {
    c.result.parameters = "segments=4 set=common longest=64";
    c.result.lengths[0].tokens = "alike";
  }
  check(
      "All seeds read the same text. ± is the standard deviation over seeds: the difference "
      "between trainings alone.\n");
  cells.resize(2);  // one seed: no spread
  BOOST_TEST(said().find("± is") == std::string::npos, said());
}

BOOST_AUTO_TEST_CASE(rows_go_by_the_name_of_their_runs_and_files_by_the_encoding) {
  std::vector<RunCell> cells = five_seeds();
  for (RunCell& c : cells) c.label = c.name == "alibi" ? "mine" : "kerple_log";
  Comparison one = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(one, "mine").full_label == "alibi");
  BOOST_TEST(one.rows.size() == 2u);
  CompareOptions options;
  options.reference = "mine";
  one = comparisons_of(cells, options).at(0);
  BOOST_TEST(one.reference == "alibi");
  BOOST_TEST(one.reference_label == "mine");
  BOOST_TEST(comparison_table(one).find("better than mine, * worse than mine") != std::string::npos,
             comparison_table(one));
  cells.front().label = "other";  // no name that all seeds of the row have
  one = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(one, "alibi").cells.at(0).seeds.size() == 5u);
}

BOOST_AUTO_TEST_CASE(a_name_of_one_row_says_enough_and_a_shared_one_does_not) {
  std::vector<RunCell> cells = five_seeds();
  for (RunCell& c : cells)
    if (c.name == "alibi") c.setting[0].second = "16";
  BOOST_TEST(row(comparisons_of(cells, {}).at(0), "alibi train-len=16").name == "alibi");
  for (RunCell& c : cells)
    if (c.name == "alibi") c.label = "mine";
  Comparison one = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(one, "mine").full_label == "alibi train-len=16");
  for (RunCell& c : cells) c.label = "mine";
  one = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(one, "mine train-len=16").name == "alibi");
  BOOST_TEST(row(one, "mine train-len=32").name == "kerple_log");
}

BOOST_AUTO_TEST_CASE(long_kernels_are_cut_in_rows_and_stand_whole_beneath_them) {
  const std::string kernel = "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1))";
  const std::vector<RunCell> cells = {cell(kernel, 1, 20), cell("kerple_log", 1, 20)};
  const Comparison one = comparisons_of(cells, {}).at(0);
  BOOST_TEST(row(one, run::short_posenc(kernel)).full_label == kernel);
  const std::string table = comparison_table(one);  // and once beneath them
  BOOST_TEST(table.find(run::short_posenc(kernel)) < table.find(kernel));
  BOOST_TEST(table.find(kernel) == table.rfind(kernel));
}

BOOST_AUTO_TEST_SUITE_END()
