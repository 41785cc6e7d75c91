#include <boost/test/unit_test.hpp>

#include "apps/catalog/columns.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_columns)

using namespace farfield;
using namespace farfield::catalog;

namespace {

RunFacts facts(const std::string& run, int64_t weights_bytes, std::optional<double> loss) {
  RunFacts facts;
  facts.run = run;
  facts.state = RunState::finished;
  facts.weights_bytes = weights_bytes;
  facts.loss = loss;
  return facts;
}

std::vector<RunFacts> three_and_a_damaged_one() {
  RunFacts damaged;
  damaged.run = "b";
  damaged.error = "broken";
  std::vector<RunFacts> all = {damaged, facts("c", 900, std::nullopt), facts("d", 1000, 2.5),
                               facts("a", 90, std::nan(""))};
  all[2].perplexities = {{64, 20, "last-token"}};
  all[3].perplexities = {{64, 3, "sliding"}, {8, 7, "sliding"}};
  return all;
}

std::string order_by(const std::string& column, bool is_reversed = false) {
  std::vector<RunFacts> runs = three_and_a_damaged_one();
  sort_runs(runs, column_named(column), is_reversed);
  std::string order;
  for (const RunFacts& run : runs) order += run.run;
  return order;
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_are_sorted_as_numbers) {
  BOOST_TEST(order_by("weights") == "acdb");
  BOOST_TEST(order_by("weights", true) == "dcab");
  BOOST_TEST(order_by("ppl@64") == "adbc");
  BOOST_TEST(order_by("ppl@64", true) == "dabc");
}

BOOST_AUTO_TEST_CASE(runs_that_lack_a_value_come_last_in_both_directions) {
  BOOST_TEST(order_by("loss") == "dbca");  // none, and nan
  BOOST_TEST(order_by("loss", true) == "dbca");
  BOOST_TEST(order_by("ppl@77") == "bcda");
  BOOST_TEST(order_by("name") == "bcda");
}

BOOST_AUTO_TEST_CASE(a_damaged_run_has_its_folder) {
  BOOST_TEST(order_by("run") == "abcd");
  BOOST_TEST(order_by("run", true) == "dcba");
  BOOST_TEST(order_by("state") == "cdab");
}

BOOST_AUTO_TEST_CASE(lengths_are_those_of_any_run) {
  const std::vector<int64_t> wanted = {8, 64};
  BOOST_TEST(lengths_of(three_and_a_damaged_one()) == wanted, boost::test_tools::per_element());
  BOOST_TEST(lengths_of({}).empty());
}

BOOST_AUTO_TEST_CASE(an_unknown_column_is_refused) {
  BOOST_CHECK_EXCEPTION(column_named("los"), ConfigError,
                        says("[model] --sort: expected run, state, ",
                             "loss or ppl@LENGTH, got 'los'", "; did you mean 'loss'?"));
  for (const char* name : {"", "ppl@", "ppl@x", "ppl@1x", "ppl@-1", "ppl@99999999999999999999"})
    BOOST_CHECK_EXCEPTION(column_named(name), ConfigError, says("[model] --sort: expected "));
}

BOOST_AUTO_TEST_SUITE_END()
