#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/run/folder.h"
#include "apps/run/place.h"

namespace farfield::run {

/// A run whose weights another run started from, as manifest.json of that run records it.
struct Ancestor {
  std::string run;     ///< its folder, as the user wrote it
  Place place = {};    ///< where this folder was
  int64_t step = 0;    ///< of the weights
  std::string hash;    ///< Checkpoint::model_hash
  std::string posenc;  ///< the canonical expression that they were trained with
};

/// The runs that the weights of a run come from, the oldest first; none for a run that started from
/// random weights. IoError for a damaged manifest.
std::vector<Ancestor> lineage_of(const RunFolder& run);

/// As manifest.json holds it.
nlohmann::ordered_json to_json(const std::vector<Ancestor>& lineage);

/// "step 1200 of runs/b, from step 600 of runs/a", the newest first; `with_hash`: "step 1200 of
/// runs/b (weights 0123...)".
std::string lineage_text(const std::vector<Ancestor>& lineage, bool with_hash);

}  // namespace farfield::run
