#include <boost/test/unit_test.hpp>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/comm/communicator.h"
#include "engine/comm/handshake.h"
#include "engine/comm/tcp_transport.h"
#include "engine/comm/torch_store.h"
#include "tests/support/messages.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_torch_store)  // ctest: threads

using namespace farfield;
using namespace farfield::comm;
using test::EndedProcess;
using test::in_processes;
using namespace std::chrono_literals;

namespace {

// A store as torchrun keeps it, of what is asked of it here. tests/apps/train/torchrun.sh asks
// PyTorch's own.
class FakeStore {
 public:
  /// Answers `n_clients` until each has closed its connection.
  void serve(uint16_t port, int n_clients) {
    const Socket listener = Socket::listen("127.0.0.1", port);
    std::vector<std::thread> threads;
    for (int i = 0; i < n_clients; ++i) {
      std::optional<Socket> socket = listener.accept(until());
      if (!socket) break;
      threads.emplace_back([this, client = *std::move(socket)] { answer(client); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  size_t n_values() const { return values_.size(); }

 private:
  static Clock::time_point until() { return Clock::now() + 20s; }

  template <class Number>
  static Number number(const Socket& client) {
    Number value = {};
    client.receive(std::as_writable_bytes(std::span(&value, 1)), until());
    return value;
  }
  static std::string text(const Socket& client) {
    std::string value(number<uint64_t>(client), ' ');
    client.receive(std::as_writable_bytes(std::span(value)), until());
    return value;
  }
  template <class Number>
  static void say(const Socket& client, Number value) {
    client.send(std::as_bytes(std::span(&value, 1)), until());
  }

  void answer(const Socket& client) {
    try {
      require<Error>(number<uint8_t>(client) == 0 && number<uint32_t>(client) == 0x3C85F7CE,
                     "store", "a stranger");
      for (;;) answer_one(client);
    } catch (const Error&) {
      return;
    }
  }

  void answer_one(const Socket& client) {
    const auto what = number<uint8_t>(client);
    if (what == 5 || what == 6)
      require<Error>(number<uint64_t>(client) == 1, "store", "more than one key");
    const std::string key = text(client);
    std::unique_lock lock(mutex_);
    if (what == 1) {
      values_[key] = text(client);
      is_changed_.notify_all();
    } else if (what == 3) {
      say(client, uint64_t{values_.at(key).size()});
      client.send(std::as_bytes(std::span(values_.at(key))), until());
    } else if (what == 5) {
      say(client, uint8_t{values_.count(key) == 0});
    } else if (what == 6) {
      if (is_changed_.wait_for(lock, 5s, [&] { return values_.count(key) > 0; }))
        say(client, uint8_t{0});
    } else if (what == 8) {
      say(client, static_cast<int64_t>(values_.erase(key)));
    } else {
      fail<Error>("store", "unknown");
    }
  }

  std::mutex mutex_;
  std::condition_variable is_changed_;
  std::map<std::string, std::string> values_;
};

Meeting meeting(int rank, int size, uint16_t port, std::chrono::seconds patience = 10s) {
  return {.rank = rank,
          .size = size,
          .local_size = size,
          .host = "127.0.0.1",
          .port = port,
          .store_key = "farfield/job/0",
          .patience = patience};
}

}  // namespace

// Twice, as `train` and `eval` in a script that torchrun starts; process 0 comes last.
BOOST_AUTO_TEST_CASE(a_job_meets_through_the_store_and_leaves_nothing_there) {
  const std::vector<EndedProcess> ended = in_processes(4, [](int rank, uint16_t port) {
    if (rank == 3) {
      FakeStore store;
      store.serve(port, 6);
      return std::to_string(store.n_values());
    }
    std::string said;
    for (int i = 0; i < 2; ++i) {
      if (rank == 0) std::this_thread::sleep_for(200ms);
      Communicator processes(meet_by_tcp(meeting(rank, 3, port)));
      said += processes.description() + ' ' + std::to_string(processes.maximum(rank)) + ' ';
    }
    return said;
  });
  for (size_t rank = 0; rank < 3; ++rank)
    BOOST_TEST(ended[rank].said == "3 processes by TCP 2 3 processes by TCP 2 ");
  BOOST_TEST(ended[3].said == "0");
}

BOOST_AUTO_TEST_CASE(who_is_missing_is_named_where_they_meet_through_a_store) {
  for (const int missing : {0, 1}) {
    const std::vector<EndedProcess> ended = in_processes(3, [&](int rank, uint16_t port) {
      if (rank == 2) {
        FakeStore().serve(port, 1);
      } else if (rank != missing) {
        Communicator processes(meet_by_tcp(meeting(rank, 2, port, 5s)));
      }
      return std::string();
    });
    const std::string wanted = missing == 0
                                   ? "waited 5 s for process 0 of 2 to say in torchrun's store"
                                   : "for 2 processes; missing: 1; are all started?";
    const EndedProcess& waiting = ended[static_cast<size_t>(1 - missing)];
    BOOST_TEST(waiting.status == 1);
    BOOST_TEST(waiting.said.find(wanted) != std::string::npos, waiting.said);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_store_is_told) {
  const auto message = [](const std::string& answer, bool has_ended) {
    const Socket listener = Socket::listen("127.0.0.1", 0);
    std::thread other([&] {
      std::optional<Socket> socket = listener.accept(Clock::now() + 5s);
      socket->send(std::as_bytes(std::span(answer)), Clock::now() + 5s);
      if (!has_ended) std::this_thread::sleep_for(1500ms);
    });
    const std::string said = message_of<BackendError>(
        [&] { TorchStore("127.0.0.1", listener.port(), Clock::now() + 1s); });
    other.join();
    return said;
  };
  BOOST_TEST(message("SSH-2.0", false).find("got one that answers otherwise") != std::string::npos);
  for (const bool has_ended : {true, false}) {
    const std::string said = message("", has_ended);
    BOOST_TEST(said.find("[torchrun] expected an answer of the store of PyTorch 2.4 or later at "
                         "127.0.0.1, port ") == 0,
               said);
  }
  const uint16_t nobody = Socket::listen("127.0.0.1", 0).port();
  BOOST_CHECK_EXCEPTION(TorchStore("127.0.0.1", nobody, Clock::now() + 100ms), BackendError,
                        says("[torchrun] expected torchrun to keep a store at 127.0.0.1, port",
                             "as TORCHELASTIC_USE_AGENT_STORE says; ", "Connection refused"));
}

BOOST_AUTO_TEST_CASE(the_place_of_process_0_goes_there_and_back) {
  for (const std::string host : {"192.0.2.1", "::1", "fe80::1%eth0"}) {
    const Place place = place_of(text_of({host, 34567}));
    BOOST_TEST(place.host == host);
    BOOST_TEST(place.port == 34567);
  }
  for (const char* bad : {"", "1.2.3.4", "1.2.3.4 ", "1.2.3.4 x", "1.2.3.4 70000", "1.2.3.4 1 "})
    BOOST_CHECK_EXCEPTION(place_of(bad), BackendError,
                          says("expected the address and port of process 0", bad));
}

BOOST_AUTO_TEST_SUITE_END()
