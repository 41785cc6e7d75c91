#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/catalog/measurements.h"
#include "apps/catalog/run_facts.h"
#include "apps/run/lineage.h"

namespace farfield::catalog {

struct CheckpointFacts {
  int64_t step = 0;
  int64_t bytes = 0;  ///< of all its files
  std::string error;  ///< of its state.json; empty: none
};

/// All that `model show` says of a run.
struct RunDetails {
  run::RunFolder run;
  RunFacts facts;
  std::vector<run::Ancestor> lineage;
  std::vector<CheckpointFacts> checkpoints;  ///< oldest first
  std::vector<Measurement> measurements;
  std::vector<std::string> damaged_measurements;  ///< files
};

/// Errors as RunFolder::open() and read_facts().
RunDetails details_of(const std::string& path);

/// The text for people: state, configuration, lineage, data, tokenizer, checkpoints, measurements,
/// machine.
std::string details_text(const RunDetails& details);

}  // namespace farfield::catalog
