#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/comm/slurm.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_slurm)

using namespace farfield;
using namespace farfield::comm;

namespace {

// Lists as slurmctld writes them.
const std::vector<std::string> kLists = {"node1",
                                         "node1,node2",
                                         "nodeA,nodeB[1-2]",
                                         "gpu[017-018]",
                                         "gpu[7,9-12],a",
                                         "a[9-11],b",
                                         "a[09-011]",
                                         "a[3,1]",
                                         "login[1]",
                                         "r[1-2]n[03-04],r3n1",
                                         "cn-0[001-004]",
                                         "[1-3]",
                                         "b2,a1",
                                         "node-a.example.org",
                                         "x[5-6,8],login,y[01-2]",
                                         "rack[10,12]node[0-3]"};

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_host_of_a_list) {
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"node1", "node1"},
      {"nodeA,nodeB[1-2]", "nodeA"},
      {"nodeB[1-2],nodeA", "nodeB1"},
      {"gpu[017-018]", "gpu017"},
      {"gpu[7,9-12]", "gpu7"},
      {"n[2-3]-ib,other", "n2-ib"},
      {"127.0.[0-1].1,node2", "127.0.0.1"},
      {"r[1-2]n[03-04]x", "r1n03x"},
      {"[4-5]", "4"},
      {"a[1-2],b[3-4]", "a1"}};
  for (const auto& [list, host] : wanted) BOOST_TEST(first_host(list) == host, list);
}

BOOST_AUTO_TEST_CASE(what_is_no_list_is_refused_with_a_way_out) {
  for (const char* list : {"", ",a", "a[1-2", "a]1", "a1]", "a[]", "a[x]", "a[1-]", "a[-1]",
                           "a[1,]", "a[1 2]", "a[[1-2]]", "a[1-2-3]", "[1"})
    BOOST_CHECK_EXCEPTION(
        first_host(list), ConfigError,
        says_exactly(concat("[processes] SLURM_STEP_NODELIST: expected hosts such as "
                            "login,gpu[017-018], got '",
                            list, "'; set MASTER_ADDR to the host of process 0")));
}

BOOST_AUTO_TEST_CASE(the_first_host_is_that_of_scontrol) {
  if (std::system("command -v scontrol >/dev/null 2>&1") != 0) {
    std::puts("skipped: no scontrol here (Debian: slurm-client)");
    return;
  }
  const TempFolder folder;
  const std::filesystem::path conf = folder.path() / "slurm.conf";
  write_file_atomic(conf, "ClusterName=test\nSlurmctldHost=localhost\n");
  for (const std::string& list : kLists) {
    const std::string command =
        concat("SLURM_CONF='", conf.string(), "' scontrol show hostnames '", list, "' 2>&1");
    std::FILE* const output = ::popen(command.c_str(), "r");
    std::array<char, 200> line = {};
    const bool has_said = std::fgets(line.data(), line.size(), output) != nullptr;
    ::pclose(output);
    BOOST_TEST(has_said);
    BOOST_TEST(first_host(list) + '\n' == line.data(), list);
  }
}

BOOST_AUTO_TEST_CASE(tasks_of_each_node) {
  const std::vector<int> wanted = {2, 2, 2, 1, 3};
  for (size_t node = 0; node < wanted.size(); ++node)
    BOOST_TEST(tasks_of_node("2(x3),1,3", static_cast<int64_t>(node)) == wanted[node]);
  BOOST_CHECK_EXCEPTION(tasks_of_node("2(x3),1,3", 5), ConfigError,
                        says("expected an entry for the node SLURM_NODEID, got '2(x3),1,3'"));
  for (const char* bad : {"2(x3", "2(x)", "2(x0),1", "x", ",1", "", "(x2)", "2)", "2(x3)1"})
    BOOST_CHECK_EXCEPTION(tasks_of_node(bad, 0), ConfigError, says("SLURM_STEP_TASKS_PER_NODE"));
}

BOOST_AUTO_TEST_CASE(steps_of_a_job_have_ports_of_their_own) {
  BOOST_TEST(port_of_step(1234, 0) == 20000 + 1234 * 7);
  BOOST_TEST(port_of_step(1234, 1) == port_of_step(1234, 0) + 1);
  BOOST_TEST(port_of_step(1'000'000'000, 0) == 20000);  // times 7 it is no int any more
  BOOST_TEST(port_of_step(UINT32_MAX, UINT32_MAX) >= 20000);
}

BOOST_AUTO_TEST_SUITE_END()
