#pragma once

#include <string>
#include <vector>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// The cells of one protocol and one choice of its parameters.
struct Measurement {
  std::vector<const RunCell*> cells;
  std::string others;     ///< other measurements of the same protocol, for a note; empty: none
  std::string differing;  ///< its parameters that some others lack
};

/// The measurements that these protocol hashes, or their first characters, name. Without hashes,
/// the measurement with the newest cell of each protocol.
/// Throws    ConfigError [eval:compare] bad_argument for a hash that no measurement has, with the
///           existing hashes
std::vector<Measurement> chosen_measurements(const std::vector<const RunCell*>& cells,
                                             const std::vector<std::string>& hashes);

}  // namespace farfield::compare
