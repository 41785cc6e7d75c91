// The program eval with expressions other than the trained one: several of them, and mapped values.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>

#include "apps/cli/csv.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/eval_program.h"

BOOST_AUTO_TEST_SUITE(test_eval_expressions)

using namespace farfield;
using farfield::test::run_eval;
using farfield::test::Said;
using farfield::test::toy;
using farfield::test::trained_toy;

namespace {

Said call_eval(const std::string& run, const std::string& posenc,
               std::vector<std::string> more = {}, const std::string& lengths = "16,32") {
  std::vector<std::string> words = {
      "--run", run, "--lengths", lengths, "--segments", "10", "--allow-fewer", "--posenc", posenc};
  words.insert(words.end(), more.begin(), more.end());
  return run_eval(std::move(words));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The nll at 16 and 32 of each encoding in the one table of a folder.
std::map<std::string, std::vector<std::string>> nll_in(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> nll;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().string();
    if (entry.path().extension() != ".csv" || has(file, "-items")) continue;
    size_t posenc = 0, quantity = 0, value = 0;
    for (const auto& row : cli::parse_csv(file, read_file(file))) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (row[i] == "posenc") posenc = i;
        if (row[i] == "quantity") quantity = i;
        if (row[i] == "value") value = i;
      }
      if (row[quantity] == "nll") nll[row[posenc]].push_back(row[value]);
    }
  }
  return nll;
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_bad_expression_does_not_cancel_the_others) {
  const std::string run = trained_toy("alibi", "alibi");
  const Said said = call_eval(run, "alibi, alib, alibi(geometrc), alibi + window(8)");
  BOOST_TEST(said.code == cli::kUsage);
  BOOST_TEST(has(said.err, "left out: [posenc] expected an encoding, got 'alib'"), said.err);
  BOOST_TEST(has(said.err, "left out: [posenc] alibi(slopes): expected interp"), said.err);
  for (const char* row : {"\nalibi ", "\nalibi + window(w=8) (trained: alibi) "})
    BOOST_TEST(has(said.out.substr(said.out.find("standard error")), row), said.out);
  BOOST_TEST(has(said.err,
                 "eval: [eval] bad_argument: 2 of 4 measurements left out, the others are done: "
                 "posenc: expected an encoding, got 'alib'"),
             said.err);
  // Where none is left, and of one alone, nothing is measured.
  for (const char* bad : {"alib", "alib, roppe"}) {
    const Said none = call_eval(run, bad);
    BOOST_TEST(none.code == cli::kUsage);
    BOOST_TEST(!has(none.out, "standard error"), none.out);
    BOOST_TEST(has(none.err, "[eval] bad_argument: posenc: expected an encoding, got 'alib'"),
               none.err);
  }
}

BOOST_AUTO_TEST_CASE(mapped_values_are_measured_as_the_same_model_under_a_name_of_their_own) {
  const std::string written = "kernel(bias=-a*log(1+b*d), a>0~U(0,2), b>0~U(0,1))";
  const std::string run = trained_toy(written, "kernel"), folder = toy().path("mapped");
  const Said refused = call_eval(run, "kerple_log");
  BOOST_TEST(refused.code == cli::kUsage);
  BOOST_TEST(has(refused.err, "got none for kernel.a, kernel.b; --map gives it another place"),
             refused.err);
  const Said said =
      call_eval(run, written + ", kerple_log", {"--map", "a=kerple_log.r1, b=r2", "--out", folder});
  BOOST_TEST(said.code == cli::kDone);
  const std::string map = "kernel.a=kerple_log.r1, kernel.b=kerple_log.r2";
  BOOST_TEST(has(said.err, "trained values mapped: none, this is the trained expression"),
             said.err);
  BOOST_TEST(has(said.err, "trained values mapped: " + map), said.err);
  auto nll = nll_in(folder);
  BOOST_TEST_REQUIRE(nll.size() == 2u);
  const std::vector<std::string> mapped = nll["kerple_log, map " + map];
  BOOST_TEST_REQUIRE(mapped.size() == 2u);
  nll.erase("kerple_log, map " + map);
  BOOST_TEST(nll.begin()->second == mapped, boost::test_tools::per_element());

  // Not mapped, it is another measurement: nothing of the one before is taken for it.
  const Said dropped = call_eval(run, "kerple_log", {"--drop-learned", "--out", folder + "2"});
  BOOST_TEST(dropped.code == cli::kDone);
  auto other = nll_in(folder + "2");
  BOOST_TEST_REQUIRE(other["kerple_log"].size() == 2u);
  BOOST_TEST(other["kerple_log"] != mapped);
  // Nor by a comparison.
  std::ostringstream out;
  const std::string to = toy().path("comparison");
  const char* const argv[] = {"eval", "compare", run.c_str(), "--out", to.c_str()};
  BOOST_TEST(compare::eval_program(5, argv, out) == cli::kDone);
  BOOST_TEST(has(out.str(), "kerple_log, map " + map), out.str());
}

BOOST_AUTO_TEST_CASE(a_kernel_without_values_at_a_length_fails_that_cell_alone) {
  const std::string run = trained_toy("alibi", "growing");
  const Said said = call_eval(run, "kernel(bias=-exp(d/4))", {}, "16,512");
  BOOST_TEST(said.code == cli::kFailed);
  BOOST_TEST(has(said.out,
                 "at 512: [eval:last-token] position_out_of_range: posenc: kernel(bias): "
                 "expected a finite number at every distance, got -"),
             said.out);
  BOOST_TEST(has(said.out, " ± "), said.out);
  BOOST_TEST(call_eval(run, "kernel(bias=-exp(9*d))").code == cli::kUsage);  // nor in training
}

BOOST_AUTO_TEST_CASE(a_map_needs_an_expression) {
  const std::string run = trained_toy("kerple_log", "kerple");
  std::ostringstream out;
  const char* const argv[] = {"eval", "--run", run.c_str(), "--map", "r1=a"};
  BOOST_CHECK_THROW(compare::eval_program(5, argv, out), ConfigError);
}

BOOST_AUTO_TEST_SUITE_END()
