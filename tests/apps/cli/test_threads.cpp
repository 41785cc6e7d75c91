#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/threads.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_threads)

using namespace farfield;
using namespace farfield::cli;

BOOST_AUTO_TEST_CASE(there_are_never_more_threads_than_processors_and_that_is_said) {
  const int64_t most = n_allowed_processor();
  std::ostringstream notes;
  use_threads(1, notes);
  BOOST_TEST(thread_count() == 1);
  use_threads(most, notes);
  BOOST_TEST(thread_count() == most);
  BOOST_TEST(notes.str() == "");
  use_threads(1000, notes);
  BOOST_TEST(thread_count() == most);
  BOOST_TEST(notes.str().starts_with(concat("note: 1000 threads on ", most, " processor")));
  notes.str("");
  set_thread_count(most + 1);  // as by FARFIELD_THREADS
  use_threads({}, notes);
  BOOST_TEST(thread_count() == most);
  BOOST_TEST(notes.str().starts_with(concat("note: ", most + 1, " threads on ")));
}

BOOST_AUTO_TEST_CASE(processors_are_those_that_this_process_may_run_on) {
  cpu_set_t before, one;
  BOOST_TEST_REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  BOOST_TEST(n_allowed_processor() == CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  BOOST_TEST_REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  std::ostringstream notes;
  use_threads(2, notes);
  BOOST_TEST(thread_count() == 1);
  BOOST_TEST(notes.str().starts_with("note: 2 threads on 1 processor: "), notes.str());
  BOOST_TEST(::sched_setaffinity(0, sizeof before, &before) == 0);
}

BOOST_AUTO_TEST_CASE(a_number_of_threads_that_makes_no_sense_is_refused) {
  std::ostringstream notes;
  for (const int64_t n : {int64_t{-1}, int64_t{0}, kMostThreads + 1, int64_t{1} << 62})
    BOOST_CHECK_EXCEPTION(use_threads(n, notes), ConfigError, says("expected 1 to 1024 threads"));
  BOOST_TEST(notes.str() == "");
}

BOOST_AUTO_TEST_SUITE_END()
