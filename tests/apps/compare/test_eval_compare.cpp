// eval compare on folders of runs whose cells are made by hand.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/compare/command.h"
#include "apps/compare/program.h"
#include "apps/eval/cells.h"
#include "apps/run/labels.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_eval_compare)

using namespace farfield;
using namespace farfield::compare;
using farfield::test::toy;
namespace fs = std::filesystem;

namespace {

std::string make_run(const TempFolder& in, const std::string& posenc, uint64_t seed) {
  run::RunConfig config = toy().config(posenc);
  config.seed = seed;
  const std::string path = (in / concat(posenc, "-s", seed)).string();
  run::RunFolder::create(path, {run::to_settings(config), "{}", "", ""});
  return path;
}

eval::CellFiles cells_of(const std::string& run, const std::string& posenc, uint64_t seed,
                         const std::string& text) {
  return {fs::path(run) / "eval" / "cells",
          {{"model", "m"},
           {"step", "8"},
           {"posenc", posenc},
           {"precision", "fp32"},
           {"text", text},
           {"baseline", ""},
           {"seed", std::to_string(seed)}},
          {}};
}

// Keeps a cell of perplexity exp(nll) as eval would.
void measure(const std::string& run, double nll, const std::string& posenc, uint64_t seed,
             int64_t length = 64, uint64_t draw = 0, const std::string& text = "hash/test") {
  eval::ProtocolResult p;
  p.protocol = "last-token";
  p.parameters = "segments=2";
  eval::LengthResult cell;
  cell.length = length;
  cell.tokens = "same";
  cell.bytes_per_token = 2;
  cell.items = {nll - 0.25, nll + 0.25};
  cell.mean_nll = nll;
  cell.n_scored = 2;
  cells_of(run, posenc, seed, text).keep(draw, p, cell);
}

// The same of a protocol that looks at each of two heads.
void measure_heads(const std::string& run, const std::string& posenc, uint64_t seed) {
  eval::ProtocolResult p;
  p.protocol = "effective-length";
  eval::LengthResult cell;
  cell.quantities = {{"eff", 10, "h1"}, {"eff", 20, "h2"}};
  cells_of(run, posenc, seed, "").keep(0, p, cell);
}

struct Said {
  int code = -1;
  std::string text;  // of stdout
  std::string err;
};

Said run_compare(std::vector<std::string> words) {
  words.insert(words.begin(), {"eval", "compare"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out, err;
  std::streambuf* const before = std::cerr.rdbuf(err.rdbuf());
  Said said;
  try {
    said.code = compare::eval_program(static_cast<int>(argv.size()), argv.data(), out);
  } catch (...) {
    std::cerr.rdbuf(before);
    throw;
  }
  std::cerr.rdbuf(before);
  said.text = out.str();
  said.err = err.str();
  return said;
}

bool has(const Said& said, const std::string& part) {
  return said.text.find(part) != std::string::npos;
}
bool has_remark(const Said& said, const std::string& part) {
  return said.err.find(part) != std::string::npos;
}

// The same for the row of a table, however wide its columns are.
bool has_row(const Said& said, const std::string& row) {
  std::string text;
  for (const char c : said.text)
    if (c != ' ' || text.empty() || (text.back() != ' ' && text.back() != '\n')) text += c;
  return text.find('\n' + row) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(runs_are_compared_and_tables_written) {
  const TempFolder folder;
  std::vector<std::string> words;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const char* posenc : {"alibi", "kerple_log"}) {
      words.push_back(make_run(folder, posenc, seed));
      const double more = posenc[0] == 'a' ? 0.5 + 0.01 * static_cast<double>(seed) : 0;
      measure(words.back(), 2 + more, posenc, seed);
    }
  }
  words.push_back(words.front() + "/");  // named twice, counted once
  words.push_back("--out");
  words.push_back((folder / "out").string());
  const Said said = run_compare(words);
  BOOST_TEST(said.code == cli::kDone);
  BOOST_TEST(has(said, "7.389 ±"), said.text);
  BOOST_TEST(has(said, " *"), said.text);
  BOOST_TEST(has_row(said, "bits per byte 1.443 ± "), said.text);  // 2 / ln 2 / 2
  BOOST_TEST(has(said, "1 test decides the mark; no multiple-comparison correction"), said.text);
  BOOST_TEST(has_remark(said, "written: " + (folder / "out/last-token.csv").string()), said.err);
  BOOST_TEST(!has(said, "written: "), said.text);
  BOOST_TEST(fs::exists(folder / "out/last-token.json"));
  BOOST_TEST(!has(said, "train-len="), said.text);  // alike in all
  BOOST_TEST(!has(said, "segments=2"), said.text);
  words.push_back("--verbose");
  const Said verbose = run_compare(words);
  BOOST_TEST(has(verbose, "\nprotocol: last-token segments=2, hash "), verbose.text);
}

BOOST_AUTO_TEST_CASE(numbers_of_heads_are_written_and_shown_to_those_who_ask) {
  const TempFolder folder;
  const std::string run = make_run(folder, "alibi", 1), out = (folder / "out").string();
  measure(run, 1, "alibi", 1);
  measure_heads(run, "alibi", 1);
  const Said all = run_compare({run, "--out", out});
  BOOST_TEST(all.code == cli::kDone);
  BOOST_TEST(has(all, "last-token perplexity"), all.text);
  BOOST_TEST(has(all,
                 "effective-length eff of each head (h1 to h2), 0 tests: in the files alone; "
                 "--quantity eff shows them\n"),
             all.text);
  BOOST_TEST(!has_row(all, "alibi h2"), all.text);
  BOOST_TEST(fs::exists(folder / "out/effective-length-eff.csv"));
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"--quantity", "eff"}, {"--protocol", "effective-length"}}) {
    const Said shown = run_compare({run, "--out", out, asked[0], asked[1]});
    BOOST_TEST(has_row(shown, "alibi h2 1 20\n"), shown.text);
  }
}

BOOST_AUTO_TEST_CASE(draws_of_one_run_are_one_number) {
  const TempFolder folder;
  const std::string run = make_run(folder, "rope", 4);
  measure(run, 1, "rope", 4, 64, 0);
  measure(run, 3, "rope", 4, 64, 1);
  measure(run, 1, "rope + window(w=3)", 4);
  const std::vector<RunCell> cells = run_cells(run);
  BOOST_TEST_REQUIRE(cells.size() == 2u);
  BOOST_TEST(cells[0].name == "rope");
  BOOST_TEST(cells[0].result.lengths[0].mean_nll == 2);
  BOOST_TEST(cells[0].seed == 4u);
  BOOST_TEST(cells[0].train_len == 16);
  BOOST_TEST(run::value_of(cells[0].setting, "text") == "hash/test");
  BOOST_TEST(run::value_of(cells[0].setting, "seed") == "");
  BOOST_TEST(cells[1].name == "rope + window(w=3) (trained: rope)");
}

BOOST_AUTO_TEST_CASE(seeds_that_shuffle_their_documents_are_seeds_of_one_thing) {
  const TempFolder folder;
  const std::vector<std::string> runs = {make_run(folder, "alibi", 1), make_run(folder, "alibi", 2),
                                         make_run(folder, "rope", 1), make_run(folder, "rope", 2)};
  measure(runs[0], 1, "alibi", 1, 64, 0, "hash/test order=1");
  measure(runs[1], 2, "alibi", 2, 64, 0, "hash/test order=2");
  measure(runs[2], 1, "rope", 1, 64, 0, "hash/test order=1");
  measure(runs[3], 2, "rope", 2, 64, 0, "hash/test");  // in the order of the file: another thing
  for (const std::string& run : {runs[0], runs[1]})
    BOOST_TEST(run::value_of(run_cells(run).at(0).setting, "text") == "hash/test order=seed");
  const Said said = run_compare({runs[0], runs[1], "--out", (folder / "out").string()});
  BOOST_TEST(has_row(said, "alibi 2 5.054 ± 3.3\n"), said.text);
  const Said other = run_compare({runs[2], runs[3], "--out", (folder / "out").string()});
  BOOST_TEST(has_row(other, "rope text=hash/test order=seed 1 2.718\n"), other.text);
  BOOST_TEST(has_row(other, "rope text=hash/test 1 7.389\n"), other.text);
}

BOOST_AUTO_TEST_CASE(nothing_to_compare_is_said_and_is_no_success) {
  const TempFolder folder;
  const std::string run = make_run(folder, "alibi", 1);
  const std::string other = make_run(folder, "alibi", 2);
  const Said empty = run_compare({run, other, "--out", (folder / "out").string()});
  BOOST_TEST(empty.code == cli::kFailed);
  BOOST_TEST(empty.text == "encoding   value\nalibi          -\n");
  BOOST_TEST(has_remark(empty,
                        "[eval:compare] nothing to compare: expected finished cells, got none in 2 "
                        "runs; measure first: eval --run " +
                            run),
             empty.err);
  BOOST_TEST(!fs::exists(folder / "out"));
  measure(run, 1, "alibi", 1);
  const Said none = run_compare({run, "--protocol", "non-overlapping", "--lengths", "64,128"});
  BOOST_TEST(none.code == cli::kFailed);
  BOOST_TEST(has_remark(none, "finished cells of non-overlapping at these lengths"), none.err);
  const Said json = run_compare({run, "--protocol", "non-overlapping", "--json"});
  BOOST_TEST(json.code == cli::kFailed);
  BOOST_TEST(nlohmann::json::parse(json.text)["comparisons"].empty());
}

BOOST_AUTO_TEST_CASE(json_on_stdout_is_all_that_is_there) {
  const TempFolder folder;
  const std::string run = make_run(folder, "alibi", 1), bare = make_run(folder, "rope", 1);
  measure(run, 1, "alibi", 1);
  measure_heads(run, "alibi", 1);
  const Said said = run_compare({run, bare, "--json", "--out", (folder / "out").string()});
  BOOST_TEST(said.code == cli::kDone);
  const auto json = nlohmann::json::parse(said.text);
  BOOST_TEST_REQUIRE(json["comparisons"].size() == 2u);
  const auto own = nlohmann::json::parse(read_file(folder / "out/last-token.json"));
  const auto is_there = [&](const auto& one) { return one == own; };
  BOOST_TEST(std::any_of(json["comparisons"].begin(), json["comparisons"].end(), is_there));
  BOOST_TEST(has_remark(said, bare + ": no finished cells\n"), said.err);
}

BOOST_AUTO_TEST_CASE(what_is_quiet_says_no_more_than_what_is_wrong) {
  const TempFolder folder;
  const std::string run = make_run(folder, "alibi", 1), out = (folder / "out").string();
  measure(run, 1, "alibi", 1);
  BOOST_TEST(has_remark(run_compare({run, "--out", out}), "written: "));
  const Said quiet = run_compare({run, "--out", out, "--quiet", "--lengths", "64,99"});
  BOOST_TEST(quiet.err == "99: measured by none of these runs\n");
}

BOOST_AUTO_TEST_CASE(what_none_of_the_runs_has_is_said) {
  const TempFolder folder;
  const std::string run = make_run(folder, "alibi", 1);
  measure(run, 1, "alibi", 1);
  const Said said = run_compare({run, "--lengths", "64,99", "--protocol", "sliding,last-token",
                                 "--out", (folder / "out").string()});
  BOOST_TEST(has_remark(said, "99: measured by none of these runs\n"), said.err);
  BOOST_TEST(has_remark(said, "sliding: measured by none of these runs\n"), said.err);
  BOOST_TEST(!has_remark(said, "64: "), said.err);
}

BOOST_AUTO_TEST_CASE(a_run_whose_path_is_not_utf8_is_compared) {
  const TempFolder folder;
  const std::string plain = make_run(folder, "alibi", 1), run = (folder /
                                                                 "al\xef"
                                                                 "bi")
                                                                    .string();
  measure(plain, 1, "alibi", 1);
  fs::rename(plain, run);
  const Said said = run_compare({run, "--json", "--out", (folder / "o\xff").string()});
  BOOST_TEST(said.code == cli::kDone, said.err);
  const std::string text = read_file(folder / "o\xff" / "last-token.json");
  const auto json = nlohmann::json::parse(text);
  BOOST_TEST(std::string(json["rows"][0]["cells"][0]["seeds"][0]["run"])
                 .find("al\xef\xbf\xbd"
                       "bi") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_formula_that_is_cut_stands_in_full_beneath_the_table) {
  const TempFolder folder;
  const std::string formula = "kernel(bias=-r1*log(1+r2*d^2), r1>0=1, r2>0=1)";
  run::RunConfig config = toy().config(formula);
  const std::string run = (folder / "own").string();
  run::RunFolder::create(run, {run::to_settings(config), "{}", "", ""});
  measure(run, 1, formula, 1);
  const Said said = run_compare({run, "--out", (folder / "out").string()});
  BOOST_TEST(has(said, "\n" + run::short_posenc(formula) + " is " + formula + "\n"), said.text);
}

BOOST_AUTO_TEST_CASE(a_damaged_cell_is_named) {
  const TempFolder folder;
  const std::string run = make_run(folder, "alibi", 1);
  measure(run, 1, "alibi", 1);
  const fs::path file = fs::directory_iterator(fs::path(run) / "eval" / "cells")->path();
  write_file_atomic(file, read_file(file).substr(7));
  BOOST_CHECK_EXCEPTION(run_compare({run}), IoError, says(file.string(), "the file is damaged"));
}

BOOST_AUTO_TEST_CASE(help_and_bad_requests) {
  const Said help = run_compare({"--help"});
  BOOST_TEST(help.code == cli::kDone);
  for (const char* part : {"usage: eval compare", "--reference", "--pairs", "--marks", "--out",
                           "(default: comparison)"})
    BOOST_TEST(has(help, part), part);
  BOOST_CHECK_EXCEPTION(run_compare({}), ConfigError,
                        says("[eval:compare] bad_argument: expected folders of runs"));
  BOOST_CHECK_EXCEPTION(run_compare({(toy().folder / "none").string()}), IoError,
                        says("[run] ", "expected the folder of a run"));
  BOOST_CHECK_EXCEPTION(run_compare({"x", "--pair", "seeds"}), ConfigError,
                        says("unknown option '--pair'; did you mean '--pairs'?"));
  BOOST_CHECK_EXCEPTION(
      run_compare({"x", "--lengths", "64", "99"}), ConfigError,
      says("expected RUN, got '99'; values of --lengths are joined by commas: --lengths 64,99"));
}

BOOST_AUTO_TEST_SUITE_END()
