#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/comm/tcp_transport.h"

namespace farfield::comm {

/// The message of a process when it connects. Fields are in the byte order of the sender: on a
/// machine with another byte order `magic` is another number.
struct Hello {
  uint64_t magic = 0x31706c6569667266;
  int32_t rank = 0, size = 0;
  uint32_t port = 0;  ///< that it listens on itself
};

/// Why a process may not join; "": it may.
struct Reply {
  std::array<char, 128> refusal = {};
};

/// Where a process listens, as process 0 sees it: one entry for each rank, after the reply.
struct Address {
  std::array<char, 64> host = {};
  uint32_t port = 0;
};

/// An address and a port.
struct Place {
  std::string host;
  uint16_t port = 0;
};

/// The address at which a process with the address `own` listens. Normally `own` itself: a job on
/// one machine that meets at a loopback address is then unreachable from outside. All addresses,
/// "", if `own` is a loopback address and some processes are on other machines. For process 0 `own`
/// is MASTER_ADDR, which its own /etc/hosts may resolve to 127.0.1.1; for the others it is their
/// end of the connection to process 0.
std::string listening_host(const Meeting& meeting, const std::string& own);

/// The address of process 0 as text in torchrun's store: "192.0.2.1 34567".
std::string text_of(const Place& place);
/// BackendError for another text.
Place place_of(const std::string& text);

/// The address of a process, for another process that has reached process 0 at `first`. Process 0
/// sees the first one at `seen`; a loopback address there means the machine of process 0.
std::string reachable_host(const std::string& seen, const std::string& first);

}  // namespace farfield::comm
