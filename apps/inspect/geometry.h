#pragma once

#include <string>
#include <vector>

#include "posenc/composition.h"

namespace farfield::inspect {

/// Where in an encoding to look.
struct Spot {
  int64_t layer = 0;
  int64_t n_key = 1;  ///< tokens of the sequence
  posenc::Phase phase = posenc::Phase::eval;
  uint64_t draw = 0;
};

/// The remapped place of one position.
struct RemappedPosition {
  double id = 0;  ///< what position-dependent functions are given
  /// The distance that tables use for the pair of the last query and the key so many tokens before
  /// it; NaN if none fits.
  double distance = 0;
};
std::vector<RemappedPosition> remapped_positions(const posenc::Composition& encoding,
                                                 const Spot& spot);

/// One pair of components of q and k that is turned.
struct TurnedPair {
  double frequency = 0;             ///< radians from one position to the next
  double scale_q = 1, scale_k = 1;  ///< factors on q and k beside the rotation
  /// The same for the copies that far pairs take; NaN without them.
  double far_frequency_q = 0, far_frequency_k = 0;
};
/// Measured between `position` and the next, which must be below n_key. Empty for an encoding
/// without a rotation on that layer.
std::vector<TurnedPair> turned_pairs(const posenc::Composition& encoding, const Spot& spot,
                                     int64_t position);

}  // namespace farfield::inspect
