#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/eval/options.h"

namespace farfield::eval {

/// The request of a call of eval.
struct Request {
  std::vector<std::string> runs, posenc, map;
  bool drop_learned = false, list = false, markdown = false, json = false, again = false;
  bool is_protocol_given = false;
  std::optional<int64_t> step, threads;
  std::optional<std::string> data, device;
  std::string data_type, data_split;
  std::string split = "test", order = "seed", out;
  EvalOptions eval;
};

/// Reads a call of eval. False for --help, --version or --list, whose text is then in `out`.
/// ConfigError for an invalid request.
bool read_request(int argc, const char* const* argv, Request& request, std::ostream& out);

}  // namespace farfield::eval
