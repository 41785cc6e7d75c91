#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace farfield::comm {

using Clock = std::chrono::steady_clock;

/// Whether this machine knows a host, by its name or address, at a loopback address. BackendError
/// where it does not know it.
bool is_loopback(const std::string& host);

/// A TCP socket of IPv4 or IPv6, which does not block. Errors are BackendErrors with the system's
/// reason.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

  /// Listens on `port`, 0: any. On `host` where that is an address of this machine, else (and
  /// where it is "") on all, of IPv4 and of IPv6.
  static Socket listen(const std::string& host, uint16_t port);
  uint16_t port() const;
  /// The next connection; empty if none arrives before the deadline.
  std::optional<Socket> accept(Clock::time_point until) const;
  /// A connection, retried until the deadline, since the listener may start later. BackendError.
  static Socket connect(const std::string& host, uint16_t port, Clock::time_point until);
  /// The address of the other end, and of this one.
  std::string peer() const;
  std::string own() const;

  /// Waits until the deadline; whether something can be received, or the connection has ended.
  bool can_receive(Clock::time_point until) const;
  /// Whether the other end has closed the connection; there may still be something to receive.
  bool is_closed() const;

  /// Bytes that were sent, or received, without waiting; may be 0. BackendError "the connection is
  /// closed".
  size_t send_some(std::span<const std::byte> bytes) const;
  size_t receive_some(std::span<std::byte> bytes) const;
  /// All bytes, before the deadline. BackendError.
  void send(std::span<const std::byte> bytes, Clock::time_point until) const;
  void receive(std::span<std::byte> bytes, Clock::time_point until) const;

 private:
  int descriptor_ = -1;
};

}  // namespace farfield::comm
