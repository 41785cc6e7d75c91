#pragma once

#include <array>

#include "engine/host_device.h"
#include "engine/shape.h"

namespace farfield {

/// Two operands read as one shape. Dimensions of size 1 are dropped, and neighbours joined where
/// both operands run on or are repeated together: [4, 5, 8] + [8] is [20, 8] + [1, 8].
struct Broadcast {
  struct Operand {
    std::array<int64_t, Shape::kMaxRank> stride{};  ///< 0 where it is repeated
    bool is_repeated_in_row = false;
  };

  int rank = 0;
  std::array<int64_t, Shape::kMaxRank> size{};  ///< innermost first, like the strides
  Operand a, b;
  int64_t row = 1;  ///< the last collapsed size

  Broadcast(const Shape& shape_a, const Shape& shape_b, const Shape& shape) {
    int64_t step_a = 1, step_b = 1;
    bool last_a = false, last_b = false;
    for (int i = 1; i <= shape.rank(); ++i) {
      const int64_t n = shape[-i];
      if (n == 1) continue;
      const bool has_a = i <= shape_a.rank() && shape_a[-i] != 1;
      const bool has_b = i <= shape_b.rank() && shape_b[-i] != 1;
      if (rank > 0 && has_a == last_a && has_b == last_b) {
        size[at(rank - 1)] *= n;
      } else {
        size[at(rank)] = n;
        a.stride[at(rank)] = has_a ? step_a : 0;
        b.stride[at(rank)] = has_b ? step_b : 0;
        ++rank;
      }
      if (has_a) step_a *= n;
      if (has_b) step_b *= n;
      last_a = has_a;
      last_b = has_b;
    }
    if (rank > 0) {
      row = size[0];
      a.is_repeated_in_row = a.stride[0] == 0;
      b.is_repeated_in_row = b.stride[0] == 0;
    }
  }

  /// Where a row of an operand begins.
  FARFIELD_HD int64_t offset(const Operand& operand, int64_t row_index) const {
    int64_t result = 0;
    for (int i = 1; i < Shape::kMaxRank; ++i) {  // unrolled: no array of a kernel's own
      if (i >= rank) break;
      result += row_index % size[at(i)] * operand.stride[at(i)];
      row_index /= size[at(i)];
    }
    return result;
  }

 private:
  FARFIELD_HD static constexpr size_t at(int i) { return static_cast<size_t>(i); }
};

}  // namespace farfield
