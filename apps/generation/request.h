#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/run/load_run.h"
#include "layers/sampling.h"

namespace farfield::generation {

/// The request of a call of generate.
struct Request {
  std::string run;
  run::LoadOptions load;
  std::string prompt;  ///< as read_prompt() takes it
  int64_t tokens = 100;
  int64_t samples = 1;
  std::vector<std::string> stops;  ///< UTF-8, none empty
  bool past_end = false, echo = false;
  double temperature = 0;
  SamplingFilters filters;
  uint64_t seed = 1;
  int64_t cache_window = 0, sinks = 0;
  std::optional<int64_t> threads;
};

/// Reads a call of generate. False for --help and --version, whose text is then in `out`.
/// ConfigError for an invalid request.
bool read_request(int argc, const char* const* argv, Request& request, std::ostream& out);

}  // namespace farfield::generation
