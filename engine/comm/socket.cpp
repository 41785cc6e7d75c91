#include "engine/comm/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/error.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "tcp";

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const std::string& host, uint16_t port, int family = AF_UNSPEC) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (host.empty() ? AI_PASSIVE : 0);
  const int status = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                   std::to_string(port).c_str(), &hints, &found);
  require<BackendError>(status == 0, kWhere, host, ": ", ::gai_strerror(status));
  return {found, &::freeaddrinfo};
}

Socket socket_for(const addrinfo& address) {
  return Socket(::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                         address.ai_protocol));
}

void set(const Socket& socket, int level, int option, int value) {
  ::setsockopt(socket.descriptor(), level, option, &value, sizeof value);
}

// Small messages leave at once, and the end of a machine is noticed within half a minute.
void prepare(const Socket& socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 25'000);
}

// Whether one of these events came until then.
bool wait(const Socket& socket, short events, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd one = {socket.descriptor(), events, 0};
    const int n = ::poll(&one, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1000)));
    if (n > 0) return true;
    if (n == 0 && left <= 0) return false;
  }
}

[[noreturn]] void fail_of_system(int reason) {
  fail<BackendError>(kWhere, "the connection is closed: ", std::strerror(reason));
}

// The result of send() or recv() as a number of bytes.
size_t moved(ssize_t n) {
  if (n >= 0) return static_cast<size_t>(n);
  if (errno == EAGAIN || errno == EINTR) return 0;
  fail_of_system(errno);
}

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  constexpr uint32_t kLoopbackNet = 127;  // the whole of 127.0.0.0/8
  return address.sa_family == AF_INET &&
         ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == kLoopbackNet;
}

// An IPv4 address in IPv4 form, even from a socket for both kinds.
std::string text_of(const sockaddr_storage& address) {
  char host[NI_MAXHOST] = {};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host, sizeof host,
                nullptr, 0, NI_NUMERICHOST);
  const std::string text = host, mapped = "::ffff:";
  const bool is_mapped = text.starts_with(mapped) && text.find('.') != std::string::npos;
  return is_mapped ? text.substr(mapped.size()) : text;
}

}  // namespace

bool is_loopback(const std::string& host) {
  const Addresses all = addresses_of(host, 0);
  for (const addrinfo* a = all.get(); a != nullptr; a = a->ai_next)
    if (is_loopback(*a->ai_addr)) return true;
  return false;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket Socket::listen(const std::string& host, uint16_t port) {
  int reason = 0;
  struct Place {
    std::string host;
    int family;
  };
  // The one for all addresses of IPv6 takes IPv4 too, where there is IPv6.
  std::vector<Place> places = {{"", AF_INET6}, {"", AF_INET}};
  if (!host.empty()) places.insert(places.begin(), {host, AF_UNSPEC});
  for (const Place& at : places) {
    const Addresses all = addresses_of(at.host, port, at.family);
    for (const addrinfo* a = all.get(); a != nullptr; a = a->ai_next) {
      Socket socket = socket_for(*a);
      set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
      if (at.family == AF_INET6) set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
      if (::bind(socket.descriptor(), a->ai_addr, a->ai_addrlen) == 0 &&
          ::listen(socket.descriptor(), SOMAXCONN) == 0)
        return socket;
      reason = errno;
    }
    if (reason == EADDRINUSE) break;  // on all addresses it would be another port's reader
  }
  fail<BackendError>(kWhere, "cannot listen on port ", port, ": ", std::strerror(reason),
                     reason == EADDRINUSE ? "; set another MASTER_PORT" : "");
}

uint16_t Socket::port() const {
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port
                                         : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
}

std::optional<Socket> Socket::accept(Clock::time_point until) const {
  while (wait(*this, POLLIN, until)) {
    Socket socket(::accept4(descriptor_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) continue;
    prepare(socket);
    return socket;
  }
  return std::nullopt;
}

Socket Socket::connect(const std::string& host, uint16_t port, Clock::time_point until) {
  constexpr std::chrono::milliseconds kPause(50);
  for (;;) {
    int reason = ETIMEDOUT;
    const Addresses all = addresses_of(host, port);
    for (const addrinfo* a = all.get(); a != nullptr; a = a->ai_next) {
      Socket socket = socket_for(*a);
      if (::connect(socket.descriptor(), a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS) {
        reason = errno;
        continue;
      }
      if (!wait(socket, POLLOUT, until)) break;
      socklen_t size = sizeof reason;
      ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &reason, &size);
      if (reason != 0) continue;
      prepare(socket);
      return socket;
    }
    require<BackendError>(Clock::now() + kPause < until, kWhere, "cannot connect to ", host,
                          ", port ", port, ": ", std::strerror(reason));
    std::this_thread::sleep_for(kPause);
  }
}

std::string Socket::peer() const {
  sockaddr_storage other = {};
  socklen_t size = sizeof other;
  if (::getpeername(descriptor_, reinterpret_cast<sockaddr*>(&other), &size) != 0) return "";
  return text_of(other);
}

std::string Socket::own() const {
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&own), &size) != 0) return "";
  return text_of(own);
}

bool Socket::can_receive(Clock::time_point until) const { return wait(*this, POLLIN, until); }

bool Socket::is_closed() const {
  pollfd one = {descriptor_, POLLRDHUP, 0};
  return ::poll(&one, 1, 0) > 0;
}

size_t Socket::send_some(std::span<const std::byte> bytes) const {
  return moved(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

size_t Socket::receive_some(std::span<std::byte> bytes) const {
  const ssize_t n = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
  if (n == 0 && !bytes.empty()) fail_of_system(ECONNRESET);
  return moved(n);
}

void Socket::send(std::span<const std::byte> bytes, Clock::time_point until) const {
  while (!bytes.empty()) {
    bytes = bytes.subspan(send_some(bytes));
    if (!bytes.empty() && !wait(*this, POLLOUT, until)) fail_of_system(ETIMEDOUT);
  }
}

void Socket::receive(std::span<std::byte> bytes, Clock::time_point until) const {
  while (!bytes.empty()) {
    if (!wait(*this, POLLIN, until)) fail_of_system(ETIMEDOUT);
    bytes = bytes.subspan(receive_some(bytes));
  }
}

}  // namespace farfield::comm
