#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/comm/socket.h"

namespace farfield::comm {

/// The store that the agent of torchrun keeps at MASTER_ADDR and MASTER_PORT for the processes that
/// it starts: values by key. It is a TCPStore of PyTorch 2.4 or later.
///
/// All calls throw BackendError where the store does not answer.
class TorchStore {
 public:
  /// Connects to the store, and sends a request that every version answers.
  TorchStore(const std::string& host, uint16_t port, Clock::time_point until);

  void set(const std::string& key, const std::string& value);
  /// The value of a key, once a process has set it; empty at the deadline, and the connection is
  /// then of no further use.
  std::optional<std::string> wait(const std::string& key, Clock::time_point until);
  /// Returns when it is done.
  void erase(const std::string& key);

  /// The addresses of this end of the connection and of the store's.
  std::string own() const { return socket_.own(); }
  std::string peer() const { return socket_.peer(); }

 private:
  class Query;
  void send(const Query& query);
  void receive(std::span<std::byte> bytes, Clock::time_point until);
  template <class Value>
  Value receive();
  [[noreturn]] void fail_to_answer(const BackendError& error) const;

  std::string place_;  // "node1, port 29500"
  Socket socket_;
};

}  // namespace farfield::comm
