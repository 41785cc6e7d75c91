#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/comm/tcp_transport.h"

namespace farfield::comm {

/// What a process says of itself when it connects. Its fields are in the order of bytes of this
/// machine: `magic` is another number to one of the other order.
struct Hello {
  uint64_t magic = 0x31706c6569667266;
  int32_t rank = 0, size = 0;
  uint32_t port = 0;  ///< that it listens on itself
};

/// Why a process may not join; "": it may.
struct Reply {
  std::array<char, 128> refusal = {};
};

/// Where a process listens, as process 0 sees it: one for each rank, behind the reply.
struct Address {
  std::array<char, 64> host = {};
  uint32_t port = 0;
};

/// An address and a port.
struct Place {
  std::string host;
  uint16_t port = 0;
};

/// Where a process listens whose own address is `own`: there, so that nobody else can reach a job
/// of one machine that meets at a loopback address; at all addresses, "", where that is a loopback
/// address and some of the job are elsewhere. For process 0 it is MASTER_ADDR, of which its own
/// /etc/hosts may say 127.0.1.1; for the others their end of the connection to process 0.
std::string listening_host(const Meeting& meeting, const std::string& own);

/// Where process 0 listens, as it writes it into torchrun's store: "192.0.2.1 34567".
std::string text_of(const Place& place);
/// BackendError for another text.
Place place_of(const std::string& text);

/// Where to find a process that process 0 sees at `seen`, for one that has reached process 0 at
/// `first`: a loopback address is of the machine of process 0.
std::string reachable_host(const std::string& seen, const std::string& first);

}  // namespace farfield::comm
