#include "engine/comm/tcp_transport.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "engine/base/error.h"
#include "engine/comm/handshake.h"
#include "engine/comm/socket.h"
#include "engine/comm/torch_store.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "tcp";

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
std::span<std::byte> writable(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

template <size_t n>
void copy_text(const std::string& text, std::array<char, n>& to) {
  std::strncpy(to.data(), text.c_str(), n - 1);
}

class TcpTransport final : public Transport {
 public:
  TcpTransport(int rank, int size, std::vector<Socket> peers)
      : Transport(rank, size), peers_(std::move(peers)) {}

  std::string name() const override { return "TCP"; }
  void exchange(const Outgoing& out, const Incoming& in) override;
  bool has_ended(int rank) const override {
    return rank != this->rank() && peers_[static_cast<size_t>(rank)].is_closed();
  }

 private:
  template <class Move>
  void move(int peer, const Move& move);

  std::vector<Socket> peers_;  // by rank; none at our own
};

// A step of sending or receiving; what fails is told with who is at the other end.
template <class Move>
void TcpTransport::move(int peer, const Move& step) {
  try {
    step(peers_[static_cast<size_t>(peer)]);
  } catch (const BackendError& error) {
    fail<BackendError>(kWhere, "process ", peer, " of ", size(),
                       " has ended or cannot be reached any more: ", error.what());
  }
}

void TcpTransport::exchange(const Outgoing& out, const Incoming& in) {
  std::span<const std::byte> to_send = out.to == kNobody ? out.bytes.first(0) : out.bytes;
  std::span<std::byte> to_receive = in.from == kNobody ? in.bytes.first(0) : in.bytes;
  while (!to_send.empty() || !to_receive.empty()) {
    std::array<pollfd, 2> waits = {};
    nfds_t n = 0;
    if (!to_send.empty()) {
      move(out.to, [&](const Socket& s) { to_send = to_send.subspan(s.send_some(to_send)); });
      if (!to_send.empty())
        waits[n++] = {peers_[static_cast<size_t>(out.to)].descriptor(), POLLOUT, 0};
    }
    if (!to_receive.empty()) {
      move(in.from,
           [&](const Socket& s) { to_receive = to_receive.subspan(s.receive_some(to_receive)); });
      if (!to_receive.empty())
        waits[n++] = {peers_[static_cast<size_t>(in.from)].descriptor(), POLLIN, 0};
    }
    if (n > 0) ::poll(waits.data(), n, -1);
  }
}

// The greeting of a new connection; empty for a stranger that probed the port.
std::optional<Hello> hello_of(const Socket& socket, Clock::time_point until) {
  Hello hello;
  try {
    socket.receive(writable(hello), std::min(until, Clock::now() + std::chrono::seconds(5)));
  } catch (const BackendError&) {
    return std::nullopt;
  }
  return hello.magic == Hello().magic ? std::optional(hello) : std::nullopt;
}

// The store of torchrun, for a job that meets through one.
std::optional<TorchStore> store_of(const Meeting& meeting, Clock::time_point until) {
  if (meeting.store_key.empty()) return std::nullopt;
  return TorchStore(meeting.host, meeting.port, until);
}

// For process 0: accepts connections from all others, and tells them where each listens.
std::vector<Socket> gather(const Meeting& meeting, Clock::time_point until) {
  std::optional<TorchStore> store = store_of(meeting, until);
  const Place own = store ? Place{store->own(), 0} : Place{meeting.host, meeting.port};
  const Socket listener = Socket::listen(listening_host(meeting, own.host), own.port);
  if (store) store->set(meeting.store_key, text_of({own.host, listener.port()}));
  std::vector<Socket> peers(static_cast<size_t>(meeting.size));
  std::vector<Address> addresses(peers.size());
  for (int n_there = 1; n_there < meeting.size;) {
    std::optional<Socket> socket = listener.accept(until);
    if (!socket) {
      std::string missing;
      for (int rank = 1; rank < meeting.size; ++rank)
        if (!peers[static_cast<size_t>(rank)].is_open())
          missing += concat(missing.empty() ? "" : ", ", rank);
      fail<BackendError>(kWhere, "waited ", meeting.patience.count(), " s on port ",
                         listener.port(), " for ", meeting.size, " processes; missing: ", missing,
                         "; are all started",
                         store ? "?" : ", with this MASTER_ADDR and MASTER_PORT?");
    }
    const std::optional<Hello> hello = hello_of(*socket, until);
    if (!hello) continue;
    Reply reply;
    if (hello->size != meeting.size)
      copy_text(concat("expected ", meeting.size, " processes, as process 0 does, got ",
                       hello->size, " of process ", hello->rank),
                reply.refusal);
    else if (hello->rank < 1 || hello->rank >= meeting.size ||
             peers[static_cast<size_t>(hello->rank)].is_open())
      copy_text(concat("expected processes 1 to ", meeting.size - 1, " once each, got another ",
                       hello->rank),
                reply.refusal);
    if (reply.refusal[0] != '\0') {
      socket->send(bytes_of(reply), until);
      fail<ConfigError>(kWhere, reply.refusal.data());
    }
    const auto rank = static_cast<size_t>(hello->rank);
    copy_text(socket->peer(), addresses[rank].host);
    addresses[rank].port = hello->port;
    peers[rank] = *std::move(socket);
    ++n_there;
  }
  // Before anybody goes on: what its starter starts next may meet under this key too.
  if (store) store->erase(meeting.store_key);
  for (size_t rank = 1; rank < peers.size(); ++rank) {
    peers[rank].send(bytes_of(Reply()), until);
    peers[rank].send(std::as_bytes(std::span(addresses)), until);
  }
  return peers;
}

// Where the others find process 0.
Place place_of_first(const Meeting& meeting, Clock::time_point until) {
  std::optional<TorchStore> store = store_of(meeting, until);
  if (!store) return {meeting.host, meeting.port};
  const std::optional<std::string> text = store->wait(meeting.store_key, until);
  require<BackendError>(text.has_value(), kWhere, "waited ", meeting.patience.count(),
                        " s for process 0 of ", meeting.size,
                        " to say in torchrun's store where it listens; is it started?");
  const Place place = place_of(*text);
  return {reachable_host(place.host, store->peer()), place.port};
}

// For the others: connects to lower ranks, and accepts connections from higher ranks.
std::vector<Socket> join(const Meeting& meeting, Clock::time_point until) {
  std::vector<Socket> peers(static_cast<size_t>(meeting.size));
  std::vector<Address> addresses(peers.size());
  const Place first = place_of_first(meeting, until);
  peers[0] = Socket::connect(first.host, first.port, until);
  const Socket listener = Socket::listen(listening_host(meeting, peers[0].own()), 0);
  const Hello own = {.rank = meeting.rank, .size = meeting.size, .port = listener.port()};
  peers[0].send(bytes_of(own), until);
  Reply reply;
  peers[0].receive(writable(reply), until);
  require<ConfigError>(reply.refusal[0] == '\0', kWhere, reply.refusal.data());
  peers[0].receive(std::as_writable_bytes(std::span(addresses)), until);
  for (int rank = 1; rank < meeting.rank; ++rank) {
    const Address& at = addresses[static_cast<size_t>(rank)];
    Socket& peer = peers[static_cast<size_t>(rank)];
    peer = Socket::connect(reachable_host(at.host.data(), peers[0].peer()),
                           static_cast<uint16_t>(at.port), until);
    peer.send(bytes_of(own), until);
  }
  for (int n = meeting.rank + 1; n < meeting.size;) {
    std::optional<Socket> socket = listener.accept(until);
    require<BackendError>(socket.has_value(), kWhere, "waited ", meeting.patience.count(),
                          " s for the processes behind ", meeting.rank);
    // Process 0 has let each in once: who comes again is a stranger too.
    const std::optional<Hello> hello = hello_of(*socket, until);
    if (!hello || hello->size != meeting.size || hello->rank <= meeting.rank ||
        hello->rank >= meeting.size || peers[static_cast<size_t>(hello->rank)].is_open())
      continue;
    peers[static_cast<size_t>(hello->rank)] = *std::move(socket);
    ++n;
  }
  return peers;
}

}  // namespace

std::unique_ptr<Transport> meet_by_tcp(const Meeting& meeting) {
  require<ConfigError>(meeting.size >= 1 && meeting.rank >= 0 && meeting.rank < meeting.size,
                       kWhere, "expected a rank below the number of processes, got ", meeting.rank,
                       " of ", meeting.size);
  const Clock::time_point until = Clock::now() + meeting.patience;
  return std::make_unique<TcpTransport>(
      meeting.rank, meeting.size,
      meeting.rank == 0 ? gather(meeting, until) : join(meeting, until));
}

}  // namespace farfield::comm
