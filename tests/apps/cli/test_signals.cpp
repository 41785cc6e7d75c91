#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <functional>

#include "apps/cli/signals.h"
#include "engine/base/file.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_signals)

using namespace farfield;
using namespace farfield::cli;

namespace {

struct Ended {
  int status;
  std::string said;  // on stderr
};

Ended in_a_child(const std::function<void()>& fn) {
  const TempFolder folder;
  const std::string errors = (folder / "stderr").string();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT, 0666), STDERR_FILENO);
    fn();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {status, read_file(errors)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_stop_signal_is_noted_and_survived) {
  for (const int which : {SIGINT, SIGTERM, SIGUSR1}) {
    const StopSignals watch;
    BOOST_TEST(!stop_requested());
    ::raise(which);
    BOOST_TEST(stop_requested());
  }
}

BOOST_AUTO_TEST_CASE(a_stop_is_due_when_its_grace_time_has_passed) {
  {
    const StopSignals watch("", std::chrono::hours(1));
    BOOST_TEST(!stop_is_due());
    ::raise(SIGTERM);
    BOOST_TEST(!stop_is_due());
  }
  const StopSignals watch("", std::chrono::seconds(0));
  BOOST_TEST(!stop_is_due());
  ::raise(SIGTERM);
  BOOST_TEST(stop_is_due());
}

BOOST_AUTO_TEST_CASE(the_first_signal_says_at_once_what_happens) {
  const Ended ended = in_a_child([] {
    const StopSignals watch("train: stopping after this step");
    ::raise(SIGTERM);
  });
  BOOST_TEST(ended.status == 0);
  BOOST_TEST(ended.said == "train: stopping after this step\n");
}

BOOST_AUTO_TEST_CASE(a_reader_that_the_signal_ended_too_does_not_end_the_program) {
  const auto write_to_nobody = [] {
    int ends[2];
    (void)!::pipe(ends);
    ::close(ends[0]);
    if (::write(ends[1], "x", 1) < 0 && errno == EPIPE) ::_exit(7);
  };
  const Ended stopped = in_a_child([&] {
    const StopSignals watch;
    ::raise(SIGINT);
    write_to_nobody();
  });
  BOOST_TEST(WIFEXITED(stopped.status));
  BOOST_TEST(WEXITSTATUS(stopped.status) == 7);
  const Ended as_usual = in_a_child([&] {
    { const StopSignals watch; }
    const StopSignals watch;
    write_to_nobody();
  });
  BOOST_TEST(WIFSIGNALED(as_usual.status));
  BOOST_TEST(WTERMSIG(as_usual.status) == SIGPIPE);
}

BOOST_AUTO_TEST_CASE(the_second_signal_leaves_at_once) {
  const Ended ended = in_a_child([] {
    const StopSignals watch;
    ::raise(SIGTERM);
    ::raise(SIGINT);
  });
  BOOST_TEST(WIFEXITED(ended.status));
  BOOST_TEST(WEXITSTATUS(ended.status) == 128 + SIGINT);
}

BOOST_AUTO_TEST_CASE(the_second_signal_is_ignored_on_request) {
  const Ended ended = in_a_child([] {
    const StopSignals watch("stopping", std::chrono::hours(1), false);
    ::raise(SIGTERM);
    ::raise(SIGINT);
    if (!stop_requested()) ::_exit(7);
  });
  BOOST_TEST(ended.status == 0);
  BOOST_TEST(ended.said == "stopping\n");
}

BOOST_AUTO_TEST_CASE(a_handler_does_not_write_to_the_stack_of_a_computation) {
  const StopSignals watch;
  for (const int which : {SIGINT, SIGTERM, SIGUSR1}) {
    struct sigaction action = {};
    ::sigaction(which, nullptr, &action);
    BOOST_TEST((action.sa_flags & SA_ONSTACK) != 0);
  }
  stack_t stack = {};
  BOOST_TEST_REQUIRE(::sigaltstack(nullptr, &stack) == 0);
  BOOST_TEST((stack.ss_flags & SS_DISABLE) == 0);
  // The test runner brings a stack of its own: room for this processor's frame (11 kB with AMX, 4
  // kB without) and for the handler.
  BOOST_TEST(stack.ss_size >= 2 * static_cast<size_t>(::sysconf(_SC_MINSIGSTKSZ)));
}

BOOST_AUTO_TEST_CASE(afterwards_signals_mean_what_they_did_before) {
  struct sigaction before = {}, after = {};
  ::sigaction(SIGTERM, nullptr, &before);
  { const StopSignals watch; }
  ::sigaction(SIGTERM, nullptr, &after);
  BOOST_CHECK(after.sa_handler == before.sa_handler);
}

BOOST_AUTO_TEST_SUITE_END()
