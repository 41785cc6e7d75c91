#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/eval/options.h"

namespace farfield::eval {

/// What a call of eval asks for.
struct Request {
  std::vector<std::string> runs, posenc, map;
  bool drop_learned = false, list = false, markdown = false, json = false, again = false;
  std::optional<int64_t> step, threads;
  std::optional<std::string> data, device;
  std::string data_type, data_split;
  std::string split = "test", order = "seed", out;
  EvalOptions eval;
};

/// Reads a call of eval. False where it asked for --help, --version or --list, which is then in
/// `out`. ConfigError for what no call may ask for.
bool read_request(int argc, const char* const* argv, Request& request, std::ostream& out);

}  // namespace farfield::eval
