#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/eval/result.h"
#include "apps/run/folder.h"

namespace farfield::catalog {

/// A finished measurement of a run at one length.
struct Measurement {
  std::string protocol, parameters;
  std::string encoding;  ///< run::encoding_name()
  bool is_own = false;   ///< with the encoding of the training and all of the context
  int64_t step = 0;      ///< of the checkpoint
  std::string text;      ///< id; empty for a protocol that reads none
  eval::LengthResult result = {};
};

/// The finished measurements of a run by protocol, encoding, step and length; the draws of one as
/// their mean. `damaged` gets the files that are no finished cells, which are left out.
std::vector<Measurement> measurements_of(const run::RunFolder& run,
                                         std::vector<std::filesystem::path>& damaged);

/// The lowest perplexity of a run at a length.
struct BestPerplexity {
  int64_t length = 0;
  double perplexity = 0;
  std::string protocol;  ///< that measured it
};

/// The best of the run's own measurements at each length, ascending.
std::vector<BestPerplexity> best_perplexities(const std::vector<Measurement>& all);

}  // namespace farfield::catalog
