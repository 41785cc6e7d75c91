#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/comm/communicator.h"
#include "engine/comm/handshake.h"
#include "engine/comm/socket.h"
#include "engine/comm/tcp_transport.h"
#include "tests/support/held_port.h"
#include "tests/support/messages.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_tcp_transport)  // ctest: threads arm64

using namespace farfield;
using namespace farfield::comm;
using test::EndedProcess;
using test::in_processes;
using namespace std::chrono_literals;

namespace {

Meeting meeting(int rank, int size, uint16_t port, std::chrono::seconds patience = 30s) {
  return {.rank = rank, .size = size, .host = "127.0.0.1", .port = port, .patience = patience};
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_may_come_last) {
  const auto ended = in_processes(3, [](int rank, uint16_t port) {
    if (rank == 0) std::this_thread::sleep_for(300ms);
    Communicator processes(meet_by_tcp(meeting(rank, 3, port)));
    return std::to_string(processes.maximum(rank)) + processes.description();
  });
  for (const EndedProcess& process : ended) BOOST_TEST(process.said == "23 processes by TCP");
}

BOOST_AUTO_TEST_CASE(strangers_at_the_port_are_left_alone) {
  const auto ended = in_processes(3, [](int rank, uint16_t port) {
    if (rank == 2) {
      const Socket stranger = Socket::connect("127.0.0.1", port, Clock::now() + 10s);
      const std::string text = "GET / HTTP/1.0\r\n\r\n and more of it";
      stranger.send(std::as_bytes(std::span(text)), Clock::now() + 10s);
      return std::string();
    }
    if (rank == 1) std::this_thread::sleep_for(100ms);
    Communicator processes(meet_by_tcp(meeting(rank, 2, port)));
    return std::to_string(processes.maximum(rank));
  });
  BOOST_TEST(ended[0].said == "1");
  BOOST_TEST(ended[1].said == "1");
}

// As processes 2 and 3 of a job meet process 0, by hand.
BOOST_AUTO_TEST_CASE(strangers_at_the_port_of_another_are_left_alone) {
  const auto ended = in_processes(3, [](int rank, uint16_t port) {
    if (rank < 2) {
      const std::unique_ptr<Transport> all = meet_by_tcp(meeting(rank, 4, port));
      std::string said = "  ";
      for (size_t i = 0; rank == 1 && i < said.size(); ++i)
        all->exchange(
            {}, {static_cast<int>(i) + 2, std::as_writable_bytes(std::span(said)).subspan(i, 1)});
      return said;
    }
    const Clock::time_point until = Clock::now() + 20s;
    const auto say = [&](const Socket& to, const auto& words) {
      to.send(std::as_bytes(std::span(words)), until);
    };
    const auto greet = [&](const Socket& to, int as) {
      say(to, std::vector<Hello>{{.rank = as, .size = 4, .port = 1}});
    };
    const Socket two = Socket::connect("127.0.0.1", port, until);
    const Socket three = Socket::connect("127.0.0.1", port, until);
    greet(two, 2);
    greet(three, 3);
    Reply reply;
    two.receive(std::as_writable_bytes(std::span(&reply, 1)), until);
    std::vector<Address> addresses(4);
    two.receive(std::as_writable_bytes(std::span(addresses)), until);
    const auto at_process_1 = [&] {
      return Socket::connect(addresses[1].host.data(), static_cast<uint16_t>(addresses[1].port),
                             until);
    };
    say(at_process_1(), std::string("SSH"));  // which is short, and closed
    const Socket silent = at_process_1(), first = at_process_1(), again = at_process_1();
    greet(first, 2);
    say(first, std::string("b"));
    greet(again, 2);
    say(again, std::string("x"));
    std::string end = " ";
    try {
      again.receive(std::as_writable_bytes(std::span(end)), until);
    } catch (const BackendError&) {
      end = "closed";
    }
    const Socket other = at_process_1();
    greet(other, 3);
    say(other, std::string("c"));
    return end;
  });
  BOOST_TEST(ended[0].status == 0, ended[0].said);
  BOOST_TEST(ended[1].said == "bc");
  BOOST_TEST(ended[2].said == "closed");
}

// As one machine has its name at 127.0.1.1 and the others have it at another address.
BOOST_AUTO_TEST_CASE(a_job_of_several_machines_meets_at_a_loopback_address_of_the_first) {
  const auto ended = in_processes(3, [](int rank, uint16_t port) {
    Meeting at = meeting(rank, 3, port, 10s);
    at.host = rank < 2 ? "127.0.1.1" : "127.0.0.1";
    at.local_size = rank < 2 ? 2 : 1;
    Communicator processes(meet_by_tcp(at));
    return std::to_string(processes.maximum(rank));
  });
  for (const EndedProcess& process : ended) BOOST_TEST(process.said == "2");
}

BOOST_AUTO_TEST_CASE(a_job_of_one_machine_that_meets_at_a_loopback_address_is_only_there) {
  const auto ended = in_processes(3, [](int rank, uint16_t port) {
    Meeting at = meeting(rank, 2, port, 10s);
    at.host = "127.0.1.1";
    at.local_size = 2;
    if (rank == 2) {
      const Socket is_there = Socket::connect(at.host, port, Clock::now() + 10s);
      Socket::connect("127.0.0.1", port, Clock::now() + 200ms);
      return std::string("connected");
    }
    if (rank == 1) std::this_thread::sleep_for(500ms);
    Communicator processes(meet_by_tcp(at));
    return std::to_string(processes.maximum(rank));
  });
  BOOST_TEST(ended[0].said == "1");
  BOOST_TEST(ended[1].said == "1");
  BOOST_TEST(ended[2].said.find("Connection refused") != std::string::npos, ended[2].said);
}

BOOST_AUTO_TEST_CASE(one_listens_where_all_of_its_job_find_it) {
  const auto listens = [](const std::string& host, int local_size, const std::string& own) {
    return listening_host({.rank = 1, .size = 4, .local_size = local_size, .host = host}, own);
  };
  BOOST_TEST(listens("node1", 2, "192.0.2.1") == "192.0.2.1");
  BOOST_TEST(listens("node1", 2, "fd00::1") == "fd00::1");
  BOOST_TEST(listens("node1", 2, "127.0.1.1") == "");
  BOOST_TEST(listens("node1", 2, "::1") == "");
  BOOST_TEST(listens("node1", 4, "127.0.1.1") == "127.0.1.1");
  // What is this machine on each machine: so all are here, whatever is known of their number.
  for (const std::string host : {"localhost", "127.0.0.1", "::1"})
    BOOST_TEST(listens(host, 1, host) == host);
}

BOOST_AUTO_TEST_CASE(a_loopback_address_is_of_the_machine_of_process_0) {
  BOOST_TEST(reachable_host("127.0.0.1", "192.0.2.1") == "192.0.2.1");
  BOOST_TEST(reachable_host("::1", "fd00::1") == "fd00::1");
  BOOST_TEST(reachable_host("127.0.0.1", "127.0.1.1") == "127.0.0.1");
  BOOST_TEST(reachable_host("::1", "::1") == "::1");
  BOOST_TEST(reachable_host("192.0.2.2", "192.0.2.1") == "192.0.2.2");
}

BOOST_AUTO_TEST_CASE(all_addresses_are_those_of_both_kinds) {
  const Socket listener = Socket::listen("", 0);
  for (const std::string host : {"127.0.0.1", "::1"}) {
    if (Socket::listen(host, 0).own() != host) {
      BOOST_TEST_MESSAGE("skipped: there is no " << host << " here");
      continue;
    }
    const Socket socket = Socket::connect(host, listener.port(), Clock::now() + 5s);
    const std::optional<Socket> other = listener.accept(Clock::now() + 5s);
    BOOST_REQUIRE(other.has_value());
    BOOST_TEST(other->peer() == host);  // and not ::ffff:127.0.0.1
    BOOST_TEST(other->own() == host);
  }
}

BOOST_AUTO_TEST_CASE(who_is_missing_is_named) {
  const auto ended = in_processes(2, [](int rank, uint16_t port) {
    Communicator processes(meet_by_tcp(meeting(rank == 0 ? 0 : 2, 4, port, 1s)));
    return std::string();
  });
  BOOST_TEST(ended[0].status == 1);
  BOOST_TEST(
      ended[0].said.find("for 4 processes; missing: 1, 3; are all started") != std::string::npos,
      ended[0].said);
  BOOST_TEST(ended[1].status == 1);
}

BOOST_AUTO_TEST_CASE(nobody_at_the_address) {
  const test::HeldPort held;
  const uint16_t port = held.port();
  BOOST_CHECK_EXCEPTION(
      meet_by_tcp(meeting(1, 2, port, 1s)), BackendError,
      says("cannot connect to 127.0.0.1, port ", std::to_string(port), ": Connection refused"));
  BOOST_CHECK_THROW(
      meet_by_tcp(
          {.rank = 1, .size = 2, .host = "no.such.host.invalid", .port = port, .patience = 1s}),
      BackendError);
}

BOOST_AUTO_TEST_CASE(two_of_one_rank_and_other_sizes_are_refused) {
  const auto twice = in_processes(3, [](int rank, uint16_t port) {
    Communicator processes(meet_by_tcp(meeting(std::min(rank, 1), 3, port, 5s)));
    return std::string();
  });
  BOOST_TEST(twice[0].said == "[tcp] expected processes 1 to 2 once each, got another 1");
  const auto sizes = in_processes(2, [](int rank, uint16_t port) {
    Communicator processes(meet_by_tcp(meeting(rank, 2 + rank, port, 5s)));
    return std::string();
  });
  for (const EndedProcess& process : sizes)
    BOOST_TEST(process.said == "[tcp] expected 2 processes, as process 0 does, got 3 of process 1");
}

BOOST_AUTO_TEST_CASE(a_port_in_use_is_an_error) {
  const Socket other = Socket::listen("127.0.0.1", 0);
  BOOST_CHECK_EXCEPTION(
      meet_by_tcp(meeting(0, 2, other.port(), 1s)), BackendError,
      says("cannot listen on port ", std::to_string(other.port()), ": Address already in use"));
}

BOOST_AUTO_TEST_SUITE_END()
