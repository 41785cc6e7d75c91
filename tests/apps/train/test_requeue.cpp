#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "apps/train/requeue.h"
#include "engine/base/file.h"
#include "tests/support/emulation.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_requeue)

using namespace farfield;

namespace {

// A Slurm of two scripts, and the variables of a job.
struct Job {
  std::string squeue = "echo RUNNING", scontrol;
  std::map<std::string, std::string> variables = {{"SLURM_JOB_ID", "17"}};
  bool is_alone = true;  // the training
};
struct Asked {
  std::string said;
  std::string scontrol;  // how it was called
  int status = 0;        // of the process
};

void write_program(const std::filesystem::path& file, const std::string& text) {
  write_file_atomic(file.string(), "#!/bin/sh\n" + text + '\n');
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

// requeue_job() in a process of its own, whose signals it changes.
Asked ask(
    const Job& job, const std::function<void()>& then = [] {}) {
  const TempFolder folder;
  const std::string calls = (folder / "calls").string(), said = (folder / "said").string();
  write_file_atomic(calls, "");
  if (!job.squeue.empty()) write_program(folder / "squeue", job.squeue);
  write_program(folder / "scontrol", "echo \"$*\" >>" + calls + '\n' + job.scontrol);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const char* name : {"SLURM_JOB_ID", "SLURM_PROCID", "SLURM_ARRAY_JOB_ID"})
      ::unsetenv(name);
    for (const auto& [name, value] : job.variables) ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("PATH",
             (folder.path().string() + (job.squeue.empty() ? "" : ":/usr/bin:/bin")).c_str(), 1);
    write_file_atomic(said, train::requeue_job(job.is_alone));
    then();
    ::_exit(75);
  }
  Asked asked;
  ::waitpid(child, &asked.status, 0);
  asked.said = read_file(said);
  asked.scontrol = read_file(calls);
  return asked;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_running_job_is_requeued_by_its_number) {
  const Asked asked = ask({});
  BOOST_TEST(asked.said == "job 17 is requeued, and goes on from here");
  BOOST_TEST(asked.scontrol == "requeue 17\n");
}

BOOST_AUTO_TEST_CASE(a_task_of_an_array_does_not_requeue_the_others) {
  const Asked asked = ask(
      {.squeue = "echo RUNNING",
       .scontrol = "",
       .variables = {
           {"SLURM_JOB_ID", "17"}, {"SLURM_ARRAY_JOB_ID", "17"}, {"SLURM_ARRAY_TASK_ID", "3"}}});
  BOOST_TEST(asked.scontrol == "requeue 17_3\n");
}

BOOST_AUTO_TEST_CASE(of_several_trainings_of_a_job_the_first_alone_asks) {
  Job job;
  job.variables["SLURM_PROCID"] = "1";
  const Asked asked = ask(job);
  BOOST_TEST(asked.said == "");
  BOOST_TEST(asked.scontrol == "");
  job.variables["SLURM_PROCID"] = "0";
  BOOST_TEST(ask(job).scontrol == "requeue 17\n");
}

// Its first process may be any of the job's.
BOOST_AUTO_TEST_CASE(the_first_process_of_one_training_asks_whatever_its_number_in_the_job) {
  Job job;
  job.is_alone = false;
  job.variables["SLURM_PROCID"] = "3";
  BOOST_TEST(ask(job).scontrol == "requeue 17\n");
}

BOOST_AUTO_TEST_CASE(a_signal_while_squeue_is_asked_ends_nothing) {
  Job job;
  job.squeue = "kill -TERM $PPID; kill -USR1 $PPID; echo RUNNING";
  const Asked asked = ask(job);
  BOOST_TEST(WIFEXITED(asked.status));
  BOOST_TEST(asked.scontrol == "requeue 17\n");
}

// scancel sends SIGTERM too, and Slurm would requeue such a job if asked.
BOOST_AUTO_TEST_CASE(a_job_that_was_cancelled_stays_so) {
  const Asked asked = ask({.squeue = "echo COMPLETING", .scontrol = ""});
  BOOST_TEST(asked.said.find("not requeued: it was cancelled or its time is over (COMPLETING)") !=
             std::string::npos);
  BOOST_TEST(asked.scontrol == "");
}

BOOST_AUTO_TEST_CASE(what_slurm_refuses_is_said) {
  BOOST_TEST(
      ask({.squeue = "echo RUNNING", .scontrol = "echo disabled for job 17 >&2; exit 1"}).said ==
      "job 17 is not requeued, Slurm refuses: disabled for job 17; submit it again to go "
      "on");
  BOOST_TEST(ask({.squeue = "echo no controller; exit 1", .scontrol = ""}).said ==
             "job 17 is not requeued: squeue says: no controller; submit it again to go on");
}

BOOST_AUTO_TEST_CASE(without_slurm_nothing_is_requeued) {
  if (!test::skip_if_emulated("posix_spawn() does not say there that a program is missing"))
    BOOST_TEST(ask({.squeue = "", .scontrol = ""})
                   .said.find("job 17 is not requeued: [process] squeue: cannot be started") == 0);
  Job job;
  job.variables.clear();
  const Asked asked = ask(job);
  BOOST_TEST(asked.said == "not in a Slurm job (SLURM_JOB_ID is not set), so nothing is requeued");
  BOOST_TEST(asked.scontrol == "");
}

BOOST_AUTO_TEST_CASE(the_signals_by_which_slurm_ends_the_job_leave_the_exit_status) {
  const Asked asked = ask({}, [] {
    ::raise(SIGTERM);
    ::raise(SIGUSR1);
  });
  BOOST_TEST(WIFEXITED(asked.status));
  BOOST_TEST(WEXITSTATUS(asked.status) == 75);
}

BOOST_AUTO_TEST_SUITE_END()
