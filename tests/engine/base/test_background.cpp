#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <thread>

#include "engine/base/background.h"
#include "engine/base/error.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_background)  // ctest: threads
namespace {

BOOST_AUTO_TEST_CASE(work_is_done_beside_the_caller_one_piece_after_another) {
  Background background;
  std::thread::id other;
  background.start([&] { other = std::this_thread::get_id(); });
  background.wait();
  BOOST_CHECK(other != std::this_thread::get_id());
  int sum = 0;
  for (int i = 1; i <= 100; ++i) background.start([&sum, i] { sum += i; });
  background.wait();
  BOOST_TEST(sum == 5050);
  BOOST_TEST(background.is_done());
}

BOOST_AUTO_TEST_CASE(what_it_throws_comes_out_of_wait_once) {
  Background background;
  background.start([] { fail<IoError>("here", "bad"); });
  BOOST_CHECK_THROW(background.wait(), IoError);
  BOOST_CHECK_NO_THROW(background.wait());
  background.start([] { throw 1; });
  BOOST_CHECK_THROW(background.start([] {}), int);
}

BOOST_AUTO_TEST_CASE(its_end_waits_for_the_work) {
  std::atomic<bool> is_finished = false;
  {
    Background background;
    background.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      is_finished = true;
    });
    BOOST_TEST(!background.is_done());
  }
  BOOST_TEST(is_finished);
}

BOOST_AUTO_TEST_CASE(it_takes_no_signals) {
  Background background;
  bool is_blocked = false;
  background.start([&] {
    sigset_t set;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &set);
    is_blocked = ::sigismember(&set, SIGTERM) == 1;
  });
  background.wait();
  BOOST_TEST(is_blocked);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
