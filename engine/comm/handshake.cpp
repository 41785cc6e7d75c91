#include "engine/comm/handshake.h"

#include "engine/comm/socket.h"

namespace farfield::comm {
namespace {

// These are this machine on every machine, so that all who meet there are here.
bool is_here_everywhere(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

}  // namespace

std::string listening_host(const Meeting& meeting, const std::string& own) {
  const bool all_are_here = meeting.local_size >= meeting.size || is_here_everywhere(meeting.host);
  return !all_are_here && is_loopback(own) ? "" : own;
}

std::string reachable_host(const std::string& seen, const std::string& first) {
  return is_loopback(seen) && !is_loopback(first) ? first : seen;
}

}  // namespace farfield::comm
