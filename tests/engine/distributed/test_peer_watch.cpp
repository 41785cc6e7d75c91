// That a device does not wait for ever for a process that has ended.

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

#include "engine/base/error.h"
#include "engine/distributed/peer_watch.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_peer_watch)  // ctest: threads

using namespace farfield;
using comm::Communicator;
using std::chrono::milliseconds;

namespace {

constexpr WatchTimes kShort{.between_looks = milliseconds(2), .grace = milliseconds(10)};

// What the watch of process 0 of three does within a time in which process 2 ends, or does not.
std::string watched(bool is_waiting, bool ends, milliseconds time) {
  const auto work = [=](Communicator& processes) {
    if (ends && processes.rank() == 2) return std::string();
    std::string said;
    if (processes.is_first()) {
      std::atomic<int> n_given_up = 0;
      PeerWatch watch(
          processes, [=] { return is_waiting; }, [&] { ++n_given_up; }, kShort);
      for (milliseconds waited(0); waited < time && n_given_up == 0; waited += milliseconds(1))
        std::this_thread::sleep_for(milliseconds(1));
      try {
        watch.check();
      } catch (const BackendError& error) {
        said = error.what();
      }
      said += ", given up " + std::to_string(n_given_up);
    }
    if (processes.rank() < 2 && ends)
      processes.among({0, 1}).wait_for_all();
    else
      processes.wait_for_all();
    return said;
  };
  return test::in_processes(3, std::function<std::string(Communicator&)>(work))[0].said;
}

BOOST_AUTO_TEST_CASE(a_device_that_waits_for_one_that_has_ended_gives_up) {
  BOOST_TEST(
      watched(true, true, milliseconds(20'000)) ==
      "[processes] process 2 of 3 has ended or cannot be reached any more: the device waited "
      "for it, given up 1");
}

BOOST_AUTO_TEST_CASE(a_device_that_does_not_wait_goes_on) {
  BOOST_TEST(watched(false, true, milliseconds(100)) == ", given up 0");
}

BOOST_AUTO_TEST_CASE(processes_that_are_there_are_waited_for) {
  BOOST_TEST(watched(true, false, milliseconds(100)) == ", given up 0");
}

// What is not yet received does not hide the end; groups ask for their own members.
BOOST_AUTO_TEST_CASE(an_end_is_seen_behind_what_was_sent) {
  const auto work = [](Communicator& processes) {
    const std::byte one[1] = {};
    if (processes.rank() == 1) {
      processes.send(one, 0);
      return std::string();
    }
    if (processes.rank() == 0) {
      const Communicator others = processes.among({2, 0, 1}), pair = processes.among({0, 2});
      int n_look = 0;
      while (processes.first_ended() == comm::kNobody && ++n_look < 20'000)
        std::this_thread::sleep_for(milliseconds(1));
      return concat(processes.first_ended(), ' ', others.first_ended(), ' ', pair.first_ended());
    }
    std::byte end[1];
    try {
      processes.receive(end, 0);  // until process 0 has looked
    } catch (const BackendError&) {
    }
    return std::string();
  };
  BOOST_TEST(test::in_processes(3, std::function<std::string(Communicator&)>(work))[0].said ==
             "1 2 -1");
}

}  // namespace

BOOST_AUTO_TEST_SUITE_END()
