#pragma once

#include <cstddef>
#include <span>

#include "tests/support/cuda/driver.h"

namespace farfield::emulation {

/// The data that the emulated driver writes into a CUtensorMap.
struct TensorBoxes {
  static constexpr int kMostAxes = 5;

  const unsigned char* first;
  int n_axis, element_bytes;
  cuuint64_t sizes[kMostAxes], strides[kMostAxes];  ///< strides in bytes
  cuuint32_t box[kMostAxes];
  bool is_swizzled;

  /// Of a map that was encoded here; a program error for another.
  static TensorBoxes of(const CUtensorMap& map);
  size_t box_bytes() const;
  /// The box from these coordinates on, as the accelerator leaves it in shared memory.
  void copy(void* to, std::span<const int> coordinates) const;
};

}  // namespace farfield::emulation
