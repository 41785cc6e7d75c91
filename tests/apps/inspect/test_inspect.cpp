#include <boost/test/unit_test.hpp>
#include <cmath>
#include <sstream>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/inspect/commands.h"
#include "apps/plot/gnuplot.h"
#include "apps/plot/plot.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "posenc/registry.h"
#include "tests/apps/toy_run.h"
#include "tests/support/all_close.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"

namespace farfield::inspect {
BOOST_AUTO_TEST_SUITE(test_inspect)  // ctest: on_cuda:slow sanitize
namespace {

std::string run(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"inspect"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  BOOST_TEST(inspect(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
  return out.str();
}

using Table = std::vector<std::vector<std::string>>;

Table csv(std::vector<std::string> words) {
  words.insert(words.begin(), "encoding");
  words.push_back("--csv");
  return cli::parse_csv("inspect", run(words));
}

std::vector<double> column(const Table& table, size_t c) {
  std::vector<double> values;
  for (size_t row = 1; row < table.size(); ++row) values.push_back(std::stod(table[row][c]));
  return values;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(tables_are_the_golden_ones_to_the_last_digit) {
  const auto& golden = test::golden("tables_h12.json");
  std::string distances, r1, r2;
  for (const auto& d : golden["distances"])
    distances.append(distances.empty() ? "" : ",").append(std::to_string(d.get<int64_t>()));
  const auto list = [](const nlohmann::json& numbers) { return numbers.dump(); };
  const auto& kerple = golden["encodings"]["kerple_log"];
  const std::pair<std::string, std::string> cases[] = {
      {"alibi_interp", "alibi"},
      {"alibi_geometric", "alibi(geometric)"},
      {"sandwich_128", "sandwich"},
      {"kerple_log", "kerple_log(r1=" + list(kerple["params"]["r1"]) +
                         ", r2=" + list(kerple["params"]["r2"]) + ")"}};
  for (const auto& [name, expression] : cases) {
    const Table table = csv({expression, "--n-head", "12", "--distances", distances});
    BOOST_TEST(table[0] == (std::vector<std::string>{"head", "distance", "bias", "weight"}),
               boost::test_tools::per_element());
    BOOST_TEST(table.size() == 1 + 12 * golden["distances"].size());
    BOOST_TEST(all_close(column(table, 2), test::golden_numbers(golden["encodings"][name]["b"]),
                         Tolerance{1e-11, 1e-12}),
               name);
    for (const double weight : column(table, 3)) BOOST_TEST(weight == 1);
  }
}

BOOST_AUTO_TEST_CASE(rows_go_by_head_then_by_distance_as_asked_for) {
  const Table table = csv({"alibi(slopes=[0.5,0.1])", "--n-head", "2", "--distances", "0:2,7"});
  const Table want = {{"head", "distance", "bias", "weight"},
                      {"1", "0", "0", "1"},
                      {"1", "1", "-0.5", "1"},
                      {"1", "2", "-1", "1"},
                      {"1", "7", "-3.5", "1"},
                      {"2", "0", "0", "1"},
                      {"2", "1", "-0.10000000000000001", "1"},
                      {"2", "2", "-0.20000000000000001", "1"},
                      {"2", "7", "-0.70000000000000007", "1"}};
  BOOST_TEST_REQUIRE(table.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i)
    BOOST_TEST(table[i] == want[i], boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_hidden_key_has_a_bias_of_minus_infinity) {
  const Table table = csv({"window(3)", "--n-head", "1", "--distances", "2,3"});
  BOOST_TEST(table[1][2] == "0");
  BOOST_TEST(table[2][2] == "-inf");
}

BOOST_AUTO_TEST_CASE(several_expressions_name_their_rows) {
  const Table table = csv({"alibi", "none", "--n-head", "2", "--distances", "1"});
  BOOST_TEST(table[0][0] == "posenc");
  BOOST_TEST(table[1][0] == "alibi");
  BOOST_TEST(table[4][0] == "none");
  BOOST_TEST(table[4].size() == 5u);
}

BOOST_AUTO_TEST_CASE(one_bad_expression_does_not_cancel_the_others) {
  const char* const argv[] = {"inspect", "encoding", "alibi", "alib",        "none",
                              "--csv",   "--n-head", "2",     "--distances", "1"};
  std::ostringstream out;
  BOOST_CHECK_EXCEPTION(inspect(10, argv, out), ConfigError,
                        says("[inspect] 1 of 3 expressions left out: [posenc] ", "'alib'"));
  const Table table = cli::parse_csv("inspect", out.str());
  BOOST_TEST_REQUIRE(table.size() == 5u);
  BOOST_TEST(table[1][0] == "alibi");
  BOOST_TEST(table[3][0] == "none");
  BOOST_CHECK_EXCEPTION(csv({"alib", "non"}), ConfigError, says("'alib'"));
}

BOOST_AUTO_TEST_CASE(layers_and_phases_can_be_chosen) {
  const auto bias = [](std::vector<std::string> more) {
    std::vector<std::string> words = {
        "alibi@0 + window(2, at=eval)", "--n-head", "1", "--n-layer", "2", "--distances", "1,2"};
    words.insert(words.end(), more.begin(), more.end());
    const Table table = csv(words);
    return table[1][2] + ' ' + table[2][2];
  };
  BOOST_TEST(bias({}) == "-0.00390625 -inf");
  BOOST_TEST(bias({"--phase", "train"}) == "-0.00390625 -0.0078125");
  BOOST_TEST(bias({"--layer", "1"}) == "0 -inf");
  BOOST_TEST(bias({"--layer", "-1", "--phase", "train"}) == "0 0");
}

BOOST_AUTO_TEST_CASE(positions_and_frequencies_are_tables_too) {
  const Table positions = csv({"alibi", "--positions", "--length", "4"});
  BOOST_TEST(positions.size() == 5u);
  BOOST_TEST(positions[4] == (std::vector<std::string>{"3", "3", "3"}),
             boost::test_tools::per_element());
  const Table pairs = csv({"rope", "--rotation", "--head-dim", "4", "--n-head", "2"});
  BOOST_TEST(pairs[0][1] == "frequency");
  BOOST_TEST(pairs[1][1] == "1");
  BOOST_TEST(std::stod(pairs[2][1]) == 0.01, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(pairs[2][4] == "");
}

BOOST_AUTO_TEST_CASE(people_get_blocks_of_heads_and_a_line_for_each_other_effect) {
  const std::string text = run({"encoding", "kerple_log + rope + window(64) + sinusoidal",
                                "--n-head", "10", "--head-dim", "8"});
  for (const char* part :
       {"10 heads of 8, layer 0 of 12, training length 512", "bias by distance", "head 8", "head 9",
        "-inf", "mask: the last 64 tokens", "rotation: 4 pairs", "input: a vector per position",
        "learned: kerple_log.r1 [10]"})
    BOOST_TEST(has(text, part), part << " is missing in\n" << text);
  BOOST_TEST(has(run({"encoding", "rope"}), "tables: none"));
  BOOST_TEST(has(run({"encoding", "--list"}), "sandwich"));
  BOOST_TEST(run({"encoding", "--list", "--markdown"}) == posenc::markdown());
}

BOOST_AUTO_TEST_CASE(learned_values_come_from_the_checkpoint_of_a_run) {
  const test::ToyRun toy;
  const std::string path = toy.path("run");
  train::TrainingRun training =
      train::TrainingRun::start(run::resolve(toy.config("kerple_log")), path);
  cli::Progress progress = cli::Progress::on_stderr();
  BOOST_TEST_REQUIRE(training.go(progress) == cli::kDone);
  std::vector<double> r1, r2;
  for (const auto& [name, tensor] : training.trainer().model_tensors()) {
    if (name == "gpt_neox.position_bias.kerple_log.r1") r1 = tensor.to_vector();
    if (name == "gpt_neox.position_bias.kerple_log.r2") r2 = tensor.to_vector();
  }
  const Table values = csv({"--run", path, "--parameters"});
  BOOST_TEST_REQUIRE(values.size() == 5u);
  BOOST_TEST(values[1][0] == "kerple_log.r1");
  BOOST_TEST(column(values, 1) == (std::vector<double>{1, 2, 1, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(column(values, 2) == (std::vector<double>{r1[0], r1[1], r2[0], r2[1]}),
             boost::test_tools::per_element());

  const Table table = csv({"--run", path, "--distances", "3"});
  BOOST_TEST(column(table, 2)[1] == -r1[1] * std::log1p(r2[1] * 3),
             boost::test_tools::tolerance(1e-14));
  const Table first = csv({"--run", path, "--step", "4", "--distances", "3"});
  BOOST_TEST(column(first, 2) != column(table, 2));
  const Table changed = csv({"kerple_log(bias_scale=2)", "--run", path, "--distances", "3"});
  BOOST_TEST(column(changed, 2)[1] == 2 * column(table, 2)[1], boost::test_tools::tolerance(1e-14));
  BOOST_CHECK_EXCEPTION(csv({"alibi", "--run", path}), ConfigError, says("--drop-learned"));
  BOOST_TEST(column(csv({"alibi", "--run", path, "--drop-learned", "--distances", "1"}), 2)[0] < 0);
  // The same numbers under other names.
  const std::string written = "kernel(bias=-a*log(1+b*d), a>0=1, b>0=1)";
  BOOST_CHECK_EXCEPTION(csv({written, "--run", path}), ConfigError, says("--map"));
  const std::vector<std::string> mapped = {
      written, "--run", path, "--map", "kerple_log.r1=a,kerple_log.r2=b", "--distances", "3"};
  BOOST_TEST(column(csv(mapped), 2) == column(table, 2), boost::test_tools::per_element());
  BOOST_CHECK_EXCEPTION(csv({"--run", path, "--map", "r1=a"}), ConfigError,
                        says("[inspect] --map: expected an expression with it"));
  BOOST_CHECK_EXCEPTION(csv({"alibi", "--map", "r1=a"}), ConfigError,
                        says("[inspect] --map: expected --run with it"));
  BOOST_CHECK_EXCEPTION(csv({"--run", path, "--n-head", "4"}), ConfigError,
                        says("[inspect] --n-head: expected no such size with --run"));
  BOOST_CHECK_EXCEPTION(csv({"--run", toy.path("none")}), IoError, says(toy.path("none")));
}

BOOST_AUTO_TEST_CASE(kernels_are_drawn_a_line_for_each_head) {
  const TempFolder folder;
  const std::string svg = (folder / "x.svg").string();
  if (!plot::can_plot()) {
    BOOST_TEST_MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  BOOST_TEST(run({"encoding", "kerple_log", "--n-head", "12", "--svg", svg}) ==
             "drawn: " + svg + "\n");
  for (const char* label : {"head 1", "head 12", "distance (tokens)", "training length"})
    BOOST_TEST(has(read_file(svg), label), label);
  run({"encoding", "sandwich(64, h=8)", "sandwich(256, h=8)", "--n-head", "1", "--log-axis",
       "--svg", svg});
  BOOST_TEST(has(read_file(svg), "sandwich(bar_d=256, h=8)"));
  run({"encoding", "kernel(weight=1/(1+d))", "--table", "weight", "--svg", svg});
  run({"encoding", "sandwich(h=8)", "--n-head", "2", "--length", "1000", "--image", "2", "--svg",
       svg});
  BOOST_TEST(has(read_file(svg), "sandwich(h=8), head 2"));
  BOOST_CHECK_THROW(run({"encoding", "alibi", "--svg", (folder / "no/x.svg").string()}), IoError);
  // A flat line would look like a measurement.
  const auto has_nothing = [&](std::vector<std::string> words, const std::string& said) {
    const std::string drawn = (folder / "flat.svg").string();
    words.insert(words.begin(), "encoding");
    words.insert(words.end(), {"--svg", drawn});
    BOOST_CHECK_EXCEPTION(run(words), ConfigError, says_exactly("[inspect] --svg: " + said));
    BOOST_TEST(!std::filesystem::exists(drawn));
  };
  has_nothing({"rope"}, "rope has no bias to draw; --rotation prints its frequencies");
  has_nothing({"rope", "--image", "1", "--n-head", "2", "--length", "8"},
              "rope has no bias to draw; --rotation prints its frequencies");
  has_nothing({"none"}, "none has no bias to draw");
  has_nothing({"alibi", "--table", "weight"}, "alibi has no weight to draw");
}

BOOST_AUTO_TEST_CASE(requests_that_make_no_sense_are_refused) {
  const auto refused = [](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), "encoding");
    BOOST_CHECK_EXCEPTION(run(words), ConfigError, says(message));
  };
  refused({}, "[inspect] expected an expression, --run FOLDER or --list");
  refused({"alib"}, "did you mean 'alibi'?");
  refused({"alibi", "--layer", "12"}, "[inspect] --layer: expected one from -12 to 11, got 12");
  refused({"alibi", "--phase", "test"}, "[inspect] --phase: expected eval or train, got 'test'");
  refused({"alibi", "--n-head", "0"},
          "[inspect] --n-head: expected a number from 1 to 4096, got 0");
  refused({"alibi", "--distances", "1:"}, "[inspect] --distances: expected numbers");
  refused({"alibi", "--length", "0"}, "[inspect] --length: expected a number from 1 to 2^22");
  refused({"alibi", "--length", "4", "--distances", "4"},
          "[inspect] --length: expected at least 5 tokens for the distance 4, got 4");
  refused({"alibi", "--rotation"}, "[inspect] --rotation: expected an encoding that rotates");
  refused({"alibi", "--rotation", "--positions"}, "[inspect] expected one of --list");
  refused({"alibi", "--positions", "--distances", "1"}, "[inspect] --distances: expected it for");
  refused({"alibi", "--list"}, "[inspect] --list: expected no expression");
  refused({"alibi", "--markdown"}, "[inspect] --markdown: expected --list");
  refused({"alibi", "--svg", "x.svg", "--csv"}, "[inspect] --svg: expected it alone");
  refused({"alibi", "--image", "1"}, "[inspect] --image: expected --svg with it");
  refused({"alibi", "--image", "13", "--svg", "x.svg"},
          "[inspect] --image: expected a head from 1 to 12, got 13");
  refused({"alibi", "--image", "0", "--svg", "x.svg"},
          "[inspect] --image: expected a head from 1 to 12, got 0");
  refused({"alibi", "none", "--image", "1", "--svg", "x.svg"}, "[inspect] --image: expected one");
  refused({"alibi", "--table", "b"}, "[inspect] --table: expected bias or weight, got 'b'");
  refused({"alibi", "--step", "3"}, "[inspect] --step: expected --run with it");
  refused({"learned_abs", "--distances", "512"}, "positions below the 512 rows");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::inspect
