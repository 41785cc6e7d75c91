#pragma once
// Checks in processes that share a tensor: they return their findings, since only the parent
// reports.

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "engine/base/error.h"
#include "engine/distributed/group.h"
#include "tests/support/processes.h"

namespace farfield::test {

/// "" for a successful comparison, else its message.
inline std::string said(const boost::test_tools::assertion_result& result) {
  return result ? "" : concat(result.message());
}

/// Runs `work` in a group of processes, each of which has to end well and say `wanted`.
inline void check_group(int size, const std::function<std::string(const Group&)>& work,
                        const std::string& wanted = "") {
  const std::vector<EndedProcess> ended =
      in_processes(size, [&](std::shared_ptr<comm::Communicator> all) { return work(Group(all)); });
  for (size_t rank = 0; rank < ended.size(); ++rank)
    BOOST_TEST_CONTEXT("process " << rank << " of " << size) {
      BOOST_TEST(ended[rank].said == wanted);
      BOOST_TEST(ended[rank].status == 0);
    }
}

}  // namespace farfield::test
