#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/comm/launch.h"
#include "engine/comm/mpi_transport.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_job_launch)

using namespace farfield;
using namespace farfield::comm;
using Handshake = Launch::Handshake;

namespace {

Launch launch_with(const std::map<std::string, std::string>& variables) {
  return launch_of([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(alone) {
  const Launch launch = launch_with({});
  BOOST_CHECK(launch.handshake == Handshake::none);
  BOOST_TEST(launch.size == 1);
  BOOST_CHECK(launch_with({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).handshake == Handshake::none);
}

BOOST_AUTO_TEST_CASE(as_torchrun_does) {
  std::map<std::string, std::string> variables = {{"RANK", "5"},
                                                  {"WORLD_SIZE", "8"},
                                                  {"LOCAL_RANK", "1"},
                                                  {"LOCAL_WORLD_SIZE", "4"},
                                                  {"MASTER_ADDR", "node1"},
                                                  {"MASTER_PORT", "29500"}};
  const Launch launch = launch_with(variables);
  BOOST_CHECK(launch.handshake == Handshake::tcp);
  BOOST_TEST(launch.rank == 5);
  BOOST_TEST(launch.size == 8);
  BOOST_TEST(launch.local_rank == 1);
  BOOST_TEST(launch.local_size == 4);
  BOOST_TEST(launch.host == "node1");
  BOOST_TEST(launch.port == 29500);
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    std::map<std::string, std::string> fewer = variables;
    fewer.erase(name);
    BOOST_CHECK_EXCEPTION(launch_with(fewer), ConfigError, says(name, ": expected it to be set"));
  }
  variables["RANK"] = "8";
  BOOST_CHECK_EXCEPTION(launch_with(variables), ConfigError,
                        says("RANK: expected a number from 0 to 7, got '8'"));
}

BOOST_AUTO_TEST_CASE(torchrun_keeps_a_store) {
  std::map<std::string, std::string> variables = {{"RANK", "1"},
                                                  {"WORLD_SIZE", "2"},
                                                  {"MASTER_ADDR", "node1"},
                                                  {"MASTER_PORT", "400"},
                                                  {"TORCHELASTIC_RUN_ID", "run 7"},
                                                  {"TORCHELASTIC_RESTART_COUNT", "3"},
                                                  {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  BOOST_TEST(launch_with(variables).starter == "torchrun");
  BOOST_TEST(launch_with(variables).store_key == "farfield/run 7/3");
  BOOST_TEST(launch_with(variables).port == 400);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  BOOST_TEST(launch_with(variables).starter == "torchrun");
  BOOST_TEST(launch_with(variables).store_key == "");
}

BOOST_AUTO_TEST_CASE(as_mpirun_does) {
  const std::map<std::string, std::string> variables = {{"OMPI_COMM_WORLD_RANK", "1"},
                                                        {"OMPI_COMM_WORLD_SIZE", "2"},
                                                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  if (!has_mpi()) {
    BOOST_CHECK_EXCEPTION(launch_with(variables), ConfigError, says("built with MPI"));
    return;
  }
  const Launch launch = launch_with(variables);
  BOOST_CHECK(launch.handshake == Handshake::mpi);
  BOOST_TEST(launch.rank == 1);
  BOOST_TEST(launch.local_size == 2);
  BOOST_TEST(launch.starter == "mpirun");
}

BOOST_AUTO_TEST_CASE(as_srun_does) {
  std::map<std::string, std::string> variables = {{"SLURM_PROCID", "3"},
                                                  {"SLURM_STEP_NUM_TASKS", "6"},
                                                  {"SLURM_LOCALID", "0"},
                                                  {"SLURM_STEP_TASKS_PER_NODE", "3(x2)"},
                                                  {"SLURM_JOB_ID", "1234"},
                                                  {"SLURM_STEP_ID", "0"},
                                                  {"SLURM_STEP_NODELIST", "gpu[017-018]"}};
  Launch launch = launch_with(variables);
  BOOST_CHECK(launch.handshake == Handshake::tcp);
  BOOST_TEST(launch.host == "gpu017");
  BOOST_TEST(launch.local_size == 3);
  BOOST_TEST(launch.starter == "srun");
  BOOST_TEST(launch.port == 20000 + 1234 * 7);
  variables["PMIX_RANK"] = "3";
  BOOST_CHECK((launch_with(variables).handshake == Handshake::mpi) == has_mpi());
  // A script of sbatch is one process, whatever the job has.
  BOOST_CHECK(launch_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).handshake ==
              Handshake::none);
}

BOOST_AUTO_TEST_CASE(srun_says_how_many_processes_each_node_has) {
  std::map<std::string, std::string> variables = {
      {"SLURM_PROCID", "6"},  {"SLURM_STEP_NUM_TASKS", "10"},
      {"SLURM_LOCALID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1,3"},
      {"SLURM_JOB_ID", "7"},  {"SLURM_STEP_NODELIST", "n[1-5]"}};
  for (const auto& [node, n_tasks] : {std::pair("0", 2), std::pair("3", 1), std::pair("4", 3)}) {
    variables["SLURM_NODEID"] = node;
    BOOST_TEST(launch_with(variables).local_size == n_tasks);
  }
}

BOOST_AUTO_TEST_CASE(of_srun_a_script_may_say_where_to_meet) {
  std::map<std::string, std::string> variables = {{"SLURM_PROCID", "1"},
                                                  {"SLURM_STEP_NUM_TASKS", "2"},
                                                  {"SLURM_JOB_ID", "4294967295"},
                                                  {"SLURM_STEP_ID", "4294967290"},
                                                  {"SLURM_STEP_NODELIST", "n[1"}};
  BOOST_CHECK_EXCEPTION(launch_with(variables), ConfigError, says("set MASTER_ADDR"));
  variables["MASTER_ADDR"] = "head";
  BOOST_TEST(launch_with(variables).host == "head");
  BOOST_TEST(launch_with(variables).starter == "srun");
  variables["MASTER_PORT"] = "29501";
  BOOST_TEST(launch_with(variables).port == 29501);
  variables["MASTER_PORT"] = "99999";
  BOOST_CHECK_EXCEPTION(launch_with(variables), ConfigError,
                        says("MASTER_PORT: expected a number from 1 to 65535, got '99999'"));
  variables.erase("SLURM_JOB_ID");
  variables.erase("MASTER_PORT");
  BOOST_CHECK_EXCEPTION(launch_with(variables), ConfigError,
                        says("SLURM_JOB_ID: expected it to be set, as srun sets it, got nothing"));
}

BOOST_AUTO_TEST_SUITE_END()
