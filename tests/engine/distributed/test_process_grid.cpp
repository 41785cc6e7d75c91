#include <boost/test/unit_test.hpp>
#include <string>

#include "engine/base/error.h"
#include "engine/distributed/process_grid.h"
#include "tests/support/messages.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_process_grid)

using namespace farfield;
using test::EndedProcess;
using test::in_processes;

namespace {

// Who is in the groups of each process, "TENSOR|DATA" by the ranks in the job.
std::vector<std::string> groups_of(int size, int64_t n_tensor) {
  const std::vector<EndedProcess> ended =
      in_processes(size, [&](std::shared_ptr<comm::Communicator> all) {
        const ProcessGrid grid = ProcessGrid::of(Group(all), n_tensor);
        const auto members = [&](const Group& group) {
          std::string text;
          for (const std::string& rank : group.communicator().gather(std::to_string(all->rank())))
            text += rank;
          return text;
        };
        return members(grid.tensor) + '|' + members(grid.data);
      });
  std::vector<std::string> said;
  for (const EndedProcess& process : ended) said.push_back(process.said);
  return said;
}

BOOST_AUTO_TEST_CASE(neighbours_have_a_model_and_those_of_one_place_share_the_batch) {
  using Texts = std::vector<std::string>;
  BOOST_TEST(groups_of(6, 2) == (Texts{"01|024", "01|135", "23|024", "23|135", "45|024", "45|135"}),
             boost::test_tools::per_element());
  BOOST_TEST(groups_of(3, 1) == (Texts{"0|012", "1|012", "2|012"}),
             boost::test_tools::per_element());
  BOOST_TEST(groups_of(3, 3) == (Texts{"012|0", "012|1", "012|2"}),
             boost::test_tools::per_element());
  BOOST_TEST(groups_of(1, 1) == (Texts{"0|0"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_number_for_a_model_divides_that_of_all) {
  for (const int64_t n : {0, 2, -1})
    BOOST_CHECK_EXCEPTION(
        ProcessGrid::of({}, n), ConfigError,
        says_exactly(concat("[processes] expected a number of processes for each model that "
                            "divides all of them, got ",
                            n, " of 1")));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
