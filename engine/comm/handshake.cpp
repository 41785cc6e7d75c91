#include "engine/comm/handshake.h"

#include <charconv>

#include "engine/base/error.h"
#include "engine/comm/socket.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "torchrun";

// These are this machine on every machine, so that all who meet there are here.
bool is_here_everywhere(const std::string& host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

}  // namespace

std::string listening_host(const Meeting& meeting, const std::string& own) {
  const bool all_are_here = meeting.local_size >= meeting.size || is_here_everywhere(meeting.host);
  return !all_are_here && is_loopback(own) ? "" : own;
}

std::string text_of(const Place& place) { return concat(place.host, ' ', place.port); }

Place place_of(const std::string& text) {
  const size_t blank = text.rfind(' ');
  Place place = {text.substr(0, blank), 0};
  const char* const end = text.data() + text.size();
  const char* const port = blank == std::string::npos ? end : text.data() + blank + 1;
  const auto [at, error] = std::from_chars(port, end, place.port);
  require<BackendError>(error == std::errc() && at == end, kWhere,
                        "expected the address and port of process 0 in the store, got '", text,
                        "'");
  return place;
}

std::string reachable_host(const std::string& seen, const std::string& first) {
  return is_loopback(seen) && !is_loopback(first) ? first : seen;
}

}  // namespace farfield::comm
