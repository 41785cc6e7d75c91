#pragma once

#include <string>
#include <vector>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// Cells of one protocol and one choice of its parameters.
struct Measurement {
  std::vector<const RunCell*> cells;
  std::string others;     ///< of the same protocol, for a note; empty: there are none
  std::string differing;  ///< its parameters that not all others have
};

/// Of the cells, the measurements that these protocol hashes, or their first characters, name; or,
/// without hashes, of each protocol the one that has the newest cell.
/// Throws    ConfigError [eval:compare] bad_argument for a hash that none has, with those there are
std::vector<Measurement> chosen_measurements(const std::vector<const RunCell*>& cells,
                                             const std::vector<std::string>& hashes);

}  // namespace farfield::compare
