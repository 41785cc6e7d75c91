#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/cli/csv.h"
#include "apps/eval/results.h"
#include "apps/eval/results_json.h"
#include "apps/eval/results_plots.h"
#include "engine/base/hash.h"

BOOST_AUTO_TEST_SUITE(test_results)

using namespace farfield;
using namespace farfield::eval;

namespace {

LengthResult cell(int64_t length, double nll) {
  LengthResult c;
  c.length = length;
  c.items = {nll - 0.1, nll + 0.1};
  c.n_scored = 2;
  c.mean_nll = nll;
  c.bytes_per_token = 1;
  c.nll_error = 0.1;
  return c;
}

RunResult result(const std::string& posenc, double nll) {
  RunResult r;
  r.run = "runs/" + posenc;
  r.posenc = r.trained_posenc = posenc;
  r.seed = 1;
  r.train_len = 128;
  r.step = 600;
  r.data_hash = "abc";
  r.split = "test";
  r.result.protocol = "last-token";
  r.result.parameters = "segments=2 seed=1";
  r.result.starts = {0, 512};
  r.result.lengths = {cell(128, nll), cell(256, nll + 1)};
  return r;
}

RunResult with_failures() {
  RunResult r = result("learned_abs", 1);
  LengthResult& c = r.result.lengths[1];
  c = LengthResult();
  c.length = 256;
  c.failure = "position_out_of_range";
  c.message = "[posenc:learned_abs] position_out_of_range: too far";
  return r;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_csv_has_one_number_per_row_with_all_it_depends_on) {
  const auto rows = cli::parse_csv("x", results_csv({result("rope(base=1, layout=half)", 1)}));
  BOOST_TEST(rows.size() == 1u + 2 * 7);
  for (const auto& row : rows) BOOST_TEST(row.size() == rows[0].size());
  BOOST_TEST(rows[1][1] == "rope(base=1, layout=half)");
  BOOST_TEST(rows[1][11] == result("alibi", 1).result.hash());
  BOOST_TEST(rows[1][14] == "perplexity");
  BOOST_TEST(std::stod(rows[1][15]) == std::exp(1.0));
  BOOST_TEST(rows[5][14] == "bits_per_byte");
  BOOST_TEST(std::stod(rows[5][15]) == 1 / std::log(2.0), boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_failed_cell_shows_its_code_and_its_reason) {
  const std::string table = results_table({result("alibi", 1), with_failures()});
  BOOST_TEST(table.find("2.718 ± 0.27") != std::string::npos, table);
  BOOST_TEST(
      table.find("learned_abs at 256: [posenc:learned_abs] position_out_of_range: too far") !=
      std::string::npos);
  const std::string csv = results_csv({with_failures()});
  BOOST_TEST(csv.find("256,failure,position_out_of_range") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(values_are_numbers_and_words_stand_in_rows_of_failures_alone) {
  for (const char* code : {"OOM", "TIMEOUT", "position_out_of_range", "nonfinite_logits"}) {
    RunResult r = with_failures();
    r.result.lengths[1].failure = code;
    for (const auto& row : cli::parse_csv("x", results_csv({r}))) {
      if (row[14] == "quantity") continue;
      size_t read = 0;
      if (row[14] == "failure")
        BOOST_TEST(row[15] == code);
      else
        BOOST_CHECK_NO_THROW((void)std::stod(row[15], &read));
      BOOST_TEST(read == (row[14] == "failure" ? 0 : row[15].size()), row[15]);
    }
    const std::string shown = std::string(code) == "nonfinite_logits" ? "nan" : code;
    BOOST_TEST(results_table({r}).find(shown) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_inputs_stands_beside_a_count_over_them) {
  RunResult r = result("alibi", 1);
  r.result.protocol = "cached";
  r.result.parameters = "segments=2 set=per-seed longest=256 context=L-1 cache=7 timed=8";
  r.result.lengths[0].quantities = {{"score_evaluations", 868}};
  BOOST_TEST(results_table({r}).find("868 (n = 127)") != std::string::npos, results_table({r}));
}

BOOST_AUTO_TEST_CASE(later_columns_say_how_the_text_was_read_and_what_numbers_mean) {
  RunResult r = result("alibi", 1);
  r.name = "mine";
  r.document_order = "seed";
  r.precision = "fp32";
  r.device = "cpu";
  r.model_hash = "beef";
  r.result.parameters = "segments=2 set=per-seed longest=256 context=L-1";
  const auto rows = cli::parse_csv("x", results_csv({r}));
  const std::vector<std::string> names(rows[0].begin() + 16, rows[0].end());
  BOOST_TEST(names == (std::vector<std::string>{"name", "document_order", "precision", "device",
                                                "model_hash", "conventions"}),
             boost::test_tools::per_element());
  const std::vector<std::string> values(rows[1].begin() + 16, rows[1].end());
  const std::string words =
      "first_token: of the segment (from 0, documents in document order); first_token + 255 is "
      "predicted";
  BOOST_TEST(values == (std::vector<std::string>{"mine", "seed", "fp32", "cpu", "beef", words}),
             boost::test_tools::per_element());
  BOOST_TEST(results_table({r}, true).find("\nnot in the hash: document order: seed; " + words +
                                           '\n') != std::string::npos);
}

BOOST_AUTO_TEST_CASE(parameters_hash_and_conventions_come_with_verbose_alone) {
  RunResult r = result("alibi", 1);
  r.document_order = "seed";
  r.result.parameters = "segments=2 set=per-seed longest=256 context=L-1";
  const std::string table = results_table({r}), verbose = results_table({r}, true);
  BOOST_TEST(table.starts_with("last-token perplexity ± standard error, test split\nencoding "),
             table);
  BOOST_TEST(table.ends_with("\n± is the standard error over segments of the text; it does not "
                             "include the difference between training seeds\n"),
             table);
  for (const char* part : {"segments=2", "hash", "document order", "first_token"})
    BOOST_TEST(table.find(part) == std::string::npos, table);
  BOOST_TEST(verbose.starts_with(table + "protocol: last-token " + r.result.parameters + ", hash " +
                                 r.result.hash() + "\nnot in the hash: document order: seed; "),
             verbose);
  LengthResult without;  // a perplexity
  without.length = 128;
  without.quantities = {{"erf", 12}};
  r.result.lengths = {without};
  r.result.protocol = "gradient";
  BOOST_TEST(results_table({r}).starts_with("gradient, test split: how far back a model looks: "));
  r.result.protocol = "effective-length";
  BOOST_TEST(results_table({r}).starts_with("effective-length: how far each head attends "));
  r.result.protocol = "of an earlier version";
  BOOST_TEST(results_table({r}).starts_with("of an earlier version\n"));
}

BOOST_AUTO_TEST_CASE(runs_with_different_parameters_are_told_apart) {
  RunResult a = result("alibi", 1), b = result("rope", 1), c = result("t5", 1);
  a.result.parameters = b.result.parameters = "count=320 (15 at 2048) smoothing=16";
  c.result.parameters = "count=300 smoothing=16";
  const std::string table = results_table({a, b, c}), verbose = results_table({a, b, c}, true);
  BOOST_TEST(table.find("\nmeasured differently: count=320 (15 at 2048) for alibi, rope; count=300 "
                        "for t5\n") != std::string::npos,
             table);
  BOOST_TEST(table.find("hash") == std::string::npos, table);
  for (const RunResult* r : {&a, &c})
    BOOST_TEST(verbose.find(concat("\nprotocol: last-token ", r->result.parameters, ", hash ",
                                   r->result.hash(), ", for ", r == &a ? "alibi, rope" : "t5",
                                   '\n')) != std::string::npos,
               verbose);
  BOOST_TEST(results_table({a, b}).find("differently") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(columns_of_the_table_line_up) {
  const std::string table = results_table({result("alibi", 1), result("kerple_log", 8)});
  std::vector<size_t> widths;
  size_t begin = table.find('\n') + 1;
  for (int row = 0; row < 3; ++row) {
    const size_t end = table.find('\n', begin);
    size_t width = 0;
    for (size_t i = begin; i < end; ++i)
      width += (static_cast<unsigned char>(table[i]) & 0xc0) != 0x80;
    widths.push_back(width);
    begin = end + 1;
  }
  BOOST_TEST(widths[0] == widths[1]);
  BOOST_TEST(widths[1] == widths[2]);
}

BOOST_AUTO_TEST_CASE(the_table_has_bits_per_byte_and_scored_tokens) {
  RunResult r = result("alibi", std::log(4.0));
  for (LengthResult& c : r.result.lengths) c.bytes_per_token = 4;  // 2 bits per token
  const std::string table = results_table({r, r});
  const auto lines_with = [](const std::string& text, const std::string& word) {
    std::vector<std::string> found;
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      if (const std::string line = text.substr(at, text.find('\n', at) - at);
          line.find(word) != std::string::npos)
        found.push_back(line);
    return found;
  };
  const auto bits = lines_with(table, "  bits per byte");
  BOOST_TEST(bits.size() == 2u);
  BOOST_TEST(bits[0].find(" 0.5 ") != std::string::npos, bits[0]);
  BOOST_TEST(lines_with(table, "tokens scored").size() == 1u);
  RunResult other = r;
  for (LengthResult& c : other.result.lengths) c.bytes_per_token = 0;
  other.result.lengths[1].n_scored = 77;
  const std::string unequal = results_table({r, other});
  BOOST_TEST(lines_with(unequal, "bits per byte").size() == 1u);
  BOOST_TEST(lines_with(unequal, "  tokens scored").size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_json_has_the_numbers_of_the_csv_and_words_for_what_is_not_finite) {
  RunResult r = result("alibi", 701);
  r.result.lengths[0].tokens = "feed";
  r.result.lengths[0].quantities = {{"erf", 12.5}, {"slope", -INFINITY}, {"none", std::nan("")}};
  const auto json = nlohmann::json::parse(results_json({r, with_failures()}));
  const auto& one = json["results"][0];
  BOOST_TEST(one["run"] == "runs/alibi");
  BOOST_TEST(one["protocol_hash"] == r.result.hash());
  BOOST_TEST(one["parameters"] == "segments=2 seed=1");
  const auto& cell = one["lengths"][0];
  BOOST_TEST(cell["length"] == 128);
  BOOST_TEST(cell["tokens"] == "feed");
  BOOST_TEST(cell["quantities"]["perplexity"] == "inf");
  BOOST_TEST(cell["quantities"]["nll"] == 701.0);
  BOOST_TEST(cell["quantities"]["erf"] == 12.5);
  BOOST_TEST(cell["quantities"]["slope"] == "-inf");
  BOOST_TEST(cell["quantities"]["none"] == "nan");
  BOOST_TEST(!cell.contains("items"));
  const auto& failed = json["results"][1]["lengths"][1];
  BOOST_TEST(failed["failure"] == "position_out_of_range");
  BOOST_TEST(failed["quantities"].empty());
}

BOOST_AUTO_TEST_CASE(nonfinite_scores_are_nan_never_a_number) {
  LengthResult c = cell(8, 1);
  c.failure = "nonfinite_logits";
  BOOST_TEST(cell_text(c, true) == "nan");
}

BOOST_AUTO_TEST_CASE(runs_of_one_encoding_are_told_apart_by_folder) {
  RunResult a = result("alibi", 1), b = result("alibi", 2);
  b.run = "runs/b";
  const plot::Plot plot = results_plots({a, b}).at(0).plot;
  BOOST_TEST(plot.curves[1].label == "alibi (runs/b)");
  BOOST_TEST(plot.marked_x == 128);
}

BOOST_AUTO_TEST_CASE(models_that_are_unlike_say_in_what) {
  RunResult a = result("alibi", 1), b = result("alibi", 2), c = result("rope", 1);
  a.setting = c.setting = {{"d-model", "32"}, {"step", "600"}, {"tokens", "4800"}};
  b.setting = {{"d-model", "32"}, {"step", "300"}, {"tokens", "2400"}};
  using Labels = std::vector<std::string>;
  BOOST_TEST(
      labels_of({a, b, c}) == (Labels{"alibi step=600 tokens=4800", "alibi step=300 tokens=2400",
                                      "rope step=600 tokens=4800"}),
      boost::test_tools::per_element());
  BOOST_TEST(labels_of({a, c}) == (Labels{"alibi", "rope"}), boost::test_tools::per_element());
  b.name = "early";
  BOOST_TEST(labels_of({a, b}) == (Labels{"alibi step=600 tokens=4800", "early"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_name_stands_in_tables_pictures_and_names_of_files) {
  RunResult r = result("alibi", 1);
  r.name = "my run";
  BOOST_TEST(results_table({r}).find("\nmy run ") != std::string::npos);
  BOOST_TEST(results_table({r}).find("\nalibi ") == std::string::npos);
  BOOST_TEST(results_plots({r}).at(0).plot.curves[0].label == "my run");
  BOOST_TEST(file_stem({r}) == "last-token-my-run");
  BOOST_TEST(file_stem({r, result("rope", 1)}) == "last-token");
  RunResult masked = r;
  masked.baseline = "masked@8";
  masked.posenc_slug = "alibi";
  BOOST_TEST(file_stem({masked}) == "last-token-my-run-alibi-masked@8");
  BOOST_TEST(labels_of({r, masked})[1] == "my run masked@8");
  RunResult twin = r;
  twin.run = "runs/twin";
  BOOST_TEST(labels_of({r, twin})[1] == "my run (runs/twin)");
}

BOOST_AUTO_TEST_CASE(long_kernels_are_cut_in_rows_and_whole_beneath_them_and_in_files) {
  const std::string kernel = "kernel(bias=-r1*log(1+r2*d), r1>0~U(0,2), r2>0~U(0,1))";
  const RunResult r = result(kernel, 1);
  const std::string table = results_table({r});  // and once beneath them
  BOOST_TEST(table.find(run::short_posenc(kernel)) < table.find(kernel));
  BOOST_TEST(table.find(kernel) == table.rfind(kernel));
  BOOST_TEST(cli::parse_csv("x", results_csv({r}))[1][1] == kernel);
}

BOOST_AUTO_TEST_CASE(a_series_is_drawn_with_its_band_and_a_baseline_under_its_own_label) {
  RunResult a = result("alibi", 1), b = a;
  a.result.lengths[0].series.push_back({.name = "perplexity",
                                        .axis = "position (tokens)",
                                        .x = {1, 2},
                                        .y = {5, 4},
                                        .low = {4, 3},
                                        .high = {6, 5.5}});
  b = a;
  b.baseline = "masked@64";
  b.result.lengths[0].series[0].low.clear();
  const std::vector<NamedPlot> plots = results_plots({a, b});
  BOOST_TEST_REQUIRE(plots.size() == 2u);
  BOOST_TEST(plots[1].suffix == "-perplexity-128");
  const std::vector<plot::Curve>& curves = plots[1].plot.curves;
  BOOST_TEST(curves[0].points[1].low == 3);
  BOOST_TEST(curves[0].points[1].high == 5.5);
  BOOST_TEST(std::isnan(curves[1].points[1].low));
  BOOST_TEST(curves[0].label == "alibi");
  BOOST_TEST(curves[1].label == "alibi masked@64");
}

BOOST_AUTO_TEST_CASE(a_series_made_for_the_picture_is_drawn_and_in_no_csv) {
  RunResult r = result("alibi", 1);
  r.result.lengths[0].series.push_back(
      {.name = "smoothed", .axis = "position", .x = {1, 2}, .y = {5, 4}, .low = {}, .high = {}});
  const std::string csv = series_csv({r});
  Series picture = r.result.lengths[0].series[0];
  picture.y = {9, 4.5};
  picture.low = {8, 4};
  picture.high = {10, 5};
  picture.is_drawn_alone = true;
  r.result.lengths[0].series.push_back(picture);
  BOOST_TEST(series_csv({r}) == csv);
  const plot::Plot plot = results_plots({r}).at(1).plot;
  BOOST_TEST_REQUIRE(plot.curves.size() == 1u);
  BOOST_TEST(plot.curves[0].points[0].y == 9);
  BOOST_TEST(plot.band_label == "band: 95 % interval");
}

BOOST_AUTO_TEST_CASE(another_expression_than_the_trained_one_shows_in_names_and_labels) {
  RunResult own = result("alibi", 1), changed = result("alibi + window(w=4)", 1);
  changed.trained_posenc = "alibi";
  changed.posenc_slug = "alibi-window-w-4-0123abcd";
  RunResult other = changed;
  other.posenc_slug = "other";
  BOOST_TEST(file_stem({own, own}) == "last-token");
  BOOST_TEST(file_stem({changed, changed}) == "last-token-alibi-window-w-4-0123abcd");
  const std::string both = file_stem({changed, other});
  BOOST_TEST(both.size() == std::string("last-token-01234567").size());
  BOOST_TEST(both != file_stem({changed, own}));
  BOOST_TEST(results_plots({changed}).at(0).plot.curves[0].label ==
             "alibi + window(w=4) (trained: alibi)");
  BOOST_TEST(cli::parse_csv("x", results_csv({changed}))[1][2] == "alibi");
}

BOOST_AUTO_TEST_CASE(the_spread_over_draws_is_shown_and_kept) {
  RunResult r = result("randomized + rope", 1);
  r.result.lengths.resize(1);
  LengthResult& c = r.result.lengths[0];
  c.n_draws = 5;
  c.nll_spread = 0.25;
  c.perplexity_spread = 0.5;
  BOOST_TEST(cell_text(c, true) == "2.718 ± 0.27 (draws ± 0.5)");
  const auto rows = cli::parse_csv("x", results_csv({r}));
  BOOST_TEST(rows.size() == 1u + 10);
  BOOST_TEST(rows[8][14] == "draws");
  BOOST_TEST(rows[8][15] == "5");
  BOOST_TEST(rows[9][15] == "0.25");
  BOOST_TEST(rows[10][14] == "perplexity_spread");
}

BOOST_AUTO_TEST_CASE(items_name_their_place_in_the_text_and_all_that_they_depend_on) {
  RunResult r = result("alibi", 1);
  r.result.lengths[0].places = {"17", "3-4 9"};
  const auto rows = cli::parse_csv("x", items_csv({r})),
             all = cli::parse_csv("x", results_csv({r}));
  BOOST_TEST_REQUIRE(rows.size() == 5u);
  const auto first_of = [](const std::vector<std::string>& row) {
    return std::vector<std::string>(row.begin(), row.begin() + 14);
  };
  BOOST_TEST(first_of(rows[0]) == first_of(all[0]), boost::test_tools::per_element());
  BOOST_TEST(first_of(rows[1]) == first_of(all[1]), boost::test_tools::per_element());
  BOOST_TEST(rows[0][11] == "protocol_hash");
  BOOST_TEST(rows[1][11] == r.result.hash());
  std::string last;
  for (const auto& row : rows) {
    BOOST_TEST_REQUIRE(row.size() == 14u + 3 + 6 + 1);
    last += row[13] + ',' + row[14] + ',' + row[15] + ',' + row[16] + '\n';
  }
  BOOST_TEST(last ==
             "length,item,first_token,nll\n128,0,0,0.9\n128,1,512,1.1\n256,0,0,1.9\n"
             "256,1,512,2.1\n");
  BOOST_TEST(rows[0].back() == "predicted_at");
  BOOST_TEST(rows[1].back() == "17");
  BOOST_TEST(rows[2].back() == "3-4 9");
  BOOST_TEST(rows[3].back() == "");
}

BOOST_AUTO_TEST_CASE(a_failed_cell_is_named_after_what_it_was_to_give_and_keeps_what_it_has) {
  RunResult r = with_failures();
  const auto names = [](const RunResult& of) {
    std::vector<std::string> found;
    for (const auto& row : cli::parse_csv("x", results_csv({of})))
      if (row[13] == "256") found.push_back(row[14] + '=' + row[15]);
    return found;
  };
  using Names = std::vector<std::string>;
  BOOST_TEST(names(r) == (Names{"perplexity=nan", "failure=position_out_of_range"}),
             boost::test_tools::per_element());
  r.result.protocol = "gradient";
  r.result.lengths[1].failure = "zero_gradient";
  BOOST_TEST(names(r) == (Names{"gradient=nan", "failure=zero_gradient"}),
             boost::test_tools::per_element());
  r.result.protocol = "speed";
  r.result.lengths[0].quantities = {{"infer_pass_s", 0.5}};
  r.result.lengths[1].failure = "TIMEOUT";
  r.result.lengths[1].quantities = {{"infer_pass_s_partial", 0.25}};
  BOOST_TEST(names(r) == (Names{"speed=nan", "failure=TIMEOUT", "infer_pass_s_partial=0.25"}),
             boost::test_tools::per_element());
  const std::string table = results_table({r});
  const auto row = [&](const std::string& name) {
    const size_t at = table.find(' ' + name + ' ');
    return at == std::string::npos ? table : table.substr(at, table.find('\n', at) - at);
  };
  BOOST_TEST(row("infer_pass_s").find("TIMEOUT") != std::string::npos, table);
  BOOST_TEST(row("infer_pass_s_partial").find("0.25") != std::string::npos, table);
  BOOST_TEST(row("infer_pass_s_partial").find("TIMEOUT") == std::string::npos, table);
}

BOOST_AUTO_TEST_CASE(numbers_for_people_have_four_digits) {
  BOOST_TEST(short_number(3.14159) == "3.142");
  BOOST_TEST(short_number(67869.4) == "67869");
  BOOST_TEST(short_number(1.234e7) == "1.23e+07");
  BOOST_TEST(short_number(INFINITY) == "inf");
}

namespace {

// What a protocol says of two heads, without a length.
RunResult of_heads(const std::string& posenc) {
  RunResult r = result(posenc, 1);
  r.result.protocol = "effective-length";
  r.result.lengths.assign(1, {});
  LengthResult& c = r.result.lengths[0];
  for (const char* head : {"h1", "h2"}) {
    c.quantities.push_back({"eff", head[1] == '1' ? 4.0 : INFINITY, head});
    c.quantities.push_back({"nonmonotone", 0, head, "no"});
    Series series{"kernel", "distance (tokens)", {0, 1, 2}, {0, -1, -2}, {}, {}, true};
    series.of = head;
    c.series.push_back(series);
  }
  return r;
}

}  // namespace

BOOST_AUTO_TEST_CASE(heads_have_a_row_each_and_quantities_a_column) {
  const std::string table = results_table({of_heads("alibi"), of_heads("rope")});
  std::string words;  // without the spaces that line columns up
  for (const char c : table)
    if (c != ' ' || (words.back() != ' ' && words.back() != '\n')) words += c;
  BOOST_TEST(words.find("\nencoding head eff nonmonotone\nalibi h1 4 no\nalibi h2 inf no\n"
                        "rope h1 4 no\nrope h2 inf no\n") != std::string::npos,
             words);
}

BOOST_AUTO_TEST_CASE(files_name_the_head_of_a_quantity) {
  const auto rows = cli::parse_csv("x", results_csv({of_heads("alibi")}));
  BOOST_TEST(rows.at(2).at(14) == "nonmonotone h1");
  BOOST_TEST(rows.at(2).at(15) == "0");
  BOOST_TEST(cli::parse_csv("x", series_csv({of_heads("alibi")})).at(4).at(14) == "kernel h2");
}

BOOST_AUTO_TEST_CASE(heads_are_curves_of_one_picture_without_what_a_logarithm_cannot_show) {
  const auto one = results_plots({of_heads("alibi")});
  BOOST_TEST_REQUIRE(one.size() == 1u);
  BOOST_TEST(one[0].suffix == "-kernel");
  BOOST_TEST_REQUIRE(one[0].plot.curves.size() == 2u);
  BOOST_TEST(one[0].plot.curves[1].label == "h2");
  BOOST_TEST(one[0].plot.curves[1].points.size() == 2u);  // not the one at 0
  BOOST_TEST(results_plots({of_heads("alibi"), of_heads("rope")})[0].plot.curves[3].label ==
             "rope, h2");
}

BOOST_AUTO_TEST_CASE(heads_of_many_runs_are_not_drawn_together) {
  const std::vector<RunResult> six(6, of_heads("alibi")), seven(7, of_heads("alibi"));
  BOOST_TEST(results_plots(six).size() == 1u);
  BOOST_TEST(results_plots(seven).empty());
  RunResult many = of_heads("alibi");
  many.result.lengths[0].series.assign(20, many.result.lengths[0].series[0]);
  BOOST_TEST(results_plots({many}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_series_may_refuse_a_logarithmic_picture) {
  RunResult r = of_heads("alibi");
  BOOST_TEST(results_plots({r})[0].plot.may_log_y);
  r.result.lengths[0].series[1].may_log_y = false;
  BOOST_TEST(!results_plots({r})[0].plot.may_log_y);
}

BOOST_AUTO_TEST_CASE(a_remark_stands_below_the_table) {
  RunResult r = of_heads("rope");
  r.result.lengths[0].notes = {"no kernel"};
  BOOST_TEST(results_table({r}).find("\nrope: no kernel\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(gradients_that_are_zero_or_not_finite_are_nan) {
  LengthResult c = cell(8, 1);
  for (const char* code : {"nonfinite_gradient", "zero_gradient", "nonfinite_kernel"}) {
    c.failure = code;
    BOOST_TEST(cell_text(c, true) == "nan");
  }
}

BOOST_AUTO_TEST_CASE(the_code_of_an_error_is_its_first_word) {
  BOOST_TEST(code_of(std::runtime_error("[eval:gradient] zero_gradient: expected: a")) ==
             "zero_gradient");
  for (const char* other : {"zero_gradient: a", "[x] two words: a", "[x] nothing", ""})
    BOOST_TEST(code_of(std::runtime_error(other)) == "");
}

BOOST_AUTO_TEST_SUITE_END()
