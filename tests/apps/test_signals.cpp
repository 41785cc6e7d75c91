#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "apps/signals.h"

using namespace farfield::apps;

BOOST_AUTO_TEST_CASE(each_stop_signal_is_noted_and_survived) {
  for (const int which : {SIGINT, SIGTERM, SIGUSR1}) {
    const StopSignals watch;
    BOOST_TEST(!stop_requested());
    ::raise(which);
    BOOST_TEST(stop_requested());
  }
}

BOOST_AUTO_TEST_CASE(the_second_signal_leaves_at_once) {
  const pid_t child = ::fork();
  if (child == 0) {
    const StopSignals watch;
    ::raise(SIGTERM);
    ::raise(SIGINT);
    ::_exit(0);  // not reached
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 128 + SIGINT);
}

BOOST_AUTO_TEST_CASE(afterwards_signals_mean_what_they_did_before) {
  struct sigaction before = {}, after = {};
  ::sigaction(SIGTERM, nullptr, &before);
  { const StopSignals watch; }
  ::sigaction(SIGTERM, nullptr, &after);
  BOOST_CHECK(after.sa_handler == before.sa_handler);
}
