#include <signal.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "tests/support/address_space_limit.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_parallel)  // ctest: threads arm64
namespace {

const int kThreads[] = {1, 2, 3, 7};

// First of all: the variable is read when threads are first asked for.
BOOST_AUTO_TEST_CASE(a_thread_count_in_the_environment_that_makes_no_sense_is_refused) {
  const char* const given = std::getenv("FARFIELD_THREADS");
  const std::string before = given != nullptr ? given : "";
  for (const char* text : {"x", "-1", "0", "3x", "1e3", " 2", "1025", "4294967297"}) {
    ::setenv("FARFIELD_THREADS", text, 1);
    BOOST_CHECK_EXCEPTION(
        thread_count(), ConfigError,
        says_exactly(concat("[threads] FARFIELD_THREADS: expected a number from 1 to 1024, got '",
                            text, "'; unset it for all processors")));
  }
  ::setenv("FARFIELD_THREADS", before.empty() ? "3" : before.c_str(), 1);
  BOOST_TEST(thread_count() >= 1);
  if (before.empty()) {
    BOOST_TEST(thread_count() == 3);
    ::unsetenv("FARFIELD_THREADS");
  }
}

BOOST_AUTO_TEST_CASE(each_index_runs_once) {
  for (const int threads : kThreads) {
    set_thread_count(threads);
    BOOST_TEST(thread_count() == threads);
    for (const int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> counts(static_cast<size_t>(n));
      parallel_for(n, [&](int64_t i) { ++counts[static_cast<size_t>(i)]; });
      for (const std::atomic<int>& count : counts) BOOST_REQUIRE(count == 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(many_short_jobs_in_a_row_lose_nothing) {
  for (const int threads : kThreads) {
    set_thread_count(threads);
    std::atomic<int64_t> total{0};
    for (int job = 0; job < 2000; ++job) parallel_for(3, [&](int64_t i) { total += i; });
    BOOST_TEST(total == 6000);
  }
}

BOOST_AUTO_TEST_CASE(signals_are_for_the_calling_thread) {
  set_thread_count(4);
  const std::thread::id caller = std::this_thread::get_id();
  const auto is_blocked = [](int which) {
    sigset_t mask;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return ::sigismember(&mask, which) == 1;
  };
  std::atomic<int> others{0}, bad{0};
  for (int job = 0; job < 200 && others == 0; ++job)
    parallel_for(64, [&](int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (std::this_thread::get_id() == caller) return;
      ++others;
      if (!is_blocked(SIGTERM) || !is_blocked(SIGUSR1) || is_blocked(SIGSEGV)) ++bad;
    });
  BOOST_TEST(others > 0);
  BOOST_TEST(bad == 0);
  BOOST_TEST(!is_blocked(SIGTERM));
}

BOOST_AUTO_TEST_CASE(chunks_are_cut_by_size_alone) {
  for (const int threads : kThreads) {
    set_thread_count(threads);
    std::vector<int64_t> ends(4, -1);
    parallel_chunks(10, 3, [&](int64_t begin, int64_t end) {
      if (begin % 3 == 0) ends[static_cast<size_t>(begin / 3)] = end;
    });
    BOOST_TEST(ends == (std::vector<int64_t>{3, 6, 9, 10}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_call_from_inside_runs_on_the_same_thread) {
  set_thread_count(3);
  std::vector<int> inner(8 * 5);
  parallel_for(8, [&](int64_t i) {
    const auto thread = std::this_thread::get_id();
    parallel_for(5, [&](int64_t j) {
      inner[static_cast<size_t>(i * 5 + j)] += std::this_thread::get_id() == thread ? 1 : 100;
    });
  });
  for (const int count : inner) BOOST_TEST(count == 1);
}

BOOST_AUTO_TEST_CASE(an_exception_arrives_and_the_pool_goes_on) {
  for (const int threads : kThreads) {
    set_thread_count(threads);
    for (int round = 0; round < 20; ++round) {
      BOOST_CHECK_EXCEPTION(parallel_for(100,
                                         [](int64_t i) {
                                           if (i == 42) throw std::runtime_error("at 42");
                                         }),
                            std::runtime_error, says_exactly("at 42"));
      std::atomic<int> count{0};
      parallel_for(10, [&](int64_t) { ++count; });
      BOOST_REQUIRE(count == 10);
    }
  }
}

BOOST_AUTO_TEST_CASE(two_threads_may_call_at_once) {
  set_thread_count(2);
  std::atomic<int> count{0};
  const auto work = [&] {
    for (int job = 0; job < 200; ++job) parallel_for(10, [&](int64_t) { ++count; });
  };
  std::thread other(work);
  work();
  other.join();
  BOOST_TEST(count == 4000);
}

// Stands for a machine with little left: each thread wants a stack of its own.
BOOST_AUTO_TEST_CASE(threads_that_the_system_does_not_give_are_an_error_and_change_nothing) {
  if (test::skip_without_address_space_limit()) return;
  set_thread_count(2);
  std::string message;
  {
    const test::AddressSpaceLimit little(int64_t{1} << 28);
    try {
      set_thread_count(1000);
    } catch (const ConfigError& error) {
      message = error.what();
    }
  }
  BOOST_TEST(message.find("[threads] expected 1000 threads, the system gives ") == 0u, message);
  BOOST_TEST(thread_count() == 2);
  std::atomic<int> sum = 0;
  parallel_for(100, [&](int64_t) { ++sum; });
  BOOST_TEST(sum == 100);
}

BOOST_AUTO_TEST_CASE(the_time_of_threads_is_counted_while_it_is_asked_for) {
  std::atomic<int64_t> sum = 0;
  const auto work = [&](int64_t i) {
    for (int64_t k = 0; k < 20'000; ++k) sum += i ^ k;
  };
  for (const int n_thread : {1, 2}) {
    set_thread_count(n_thread);
    time_threads(true);
    BOOST_TEST(thread_times().call_s == 0);
    parallel_for(1, [](int64_t) {});
    parallel_for(8, [&](int64_t i) { parallel_for(2, [&](int64_t) { work(i); }); });
    time_threads(false);
    const ThreadTimes times = thread_times();
    BOOST_TEST(times.call_s > 0);
    BOOST_TEST(times.busy_s > 0);
    BOOST_TEST(times.busy_s <= n_thread * times.call_s);
    parallel_for(8, work);
    BOOST_TEST(thread_times().call_s == times.call_s);
    BOOST_TEST(thread_times().busy_s == times.busy_s);
  }
}

BOOST_AUTO_TEST_CASE(impossible_thread_counts_are_refused) {
  set_thread_count(2);
  BOOST_CHECK_EXCEPTION(set_thread_count(0), ConfigError,
                        says_exactly("[threads] expected 1 to 1024 threads, got 0"));
  BOOST_CHECK_EXCEPTION(set_thread_count(4294967297), ConfigError,  // 1 in 32 bits
                        says_exactly("[threads] expected 1 to 1024 threads, got 4294967297"));
  BOOST_CHECK_EXCEPTION(parallel_for(2, [](int64_t) { set_thread_count(3); }), ConfigError,
                        says_exactly("[threads] expected no running parallel_for"));
  BOOST_TEST(thread_count() == 2);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
