#include "tests/support/cuda/load_matrix.h"

#include <cstring>

#include "tests/support/cuda/block.h"

namespace farfield::emulation {
namespace {

struct MatrixLane {
  uint32_t* r;
  const void* row;
  bool is_transposed;
};

// PTX ISA, "ldmatrix": lane = 4 group + member; r[i] holds row `group`, columns 2 member and the
// next of matrix i, or, transposed, column `group`, rows 2 member and the next.
void load(void* const* lanes) {
  const bool is_transposed = static_cast<const MatrixLane*>(lanes[0])->is_transposed;
  for (int i = 0; i < 4; ++i) {
    uint16_t matrix[8][8];
    for (int j = 0; j < 8; ++j)
      std::memcpy(matrix[j], static_cast<const MatrixLane*>(lanes[8 * i + j])->row, 16);
    for (int l = 0; l < 32; ++l) {
      const int group = l / 4, member = l % 4;
      const uint16_t first = is_transposed ? matrix[2 * member][group] : matrix[group][2 * member];
      const uint16_t second =
          is_transposed ? matrix[2 * member + 1][group] : matrix[group][2 * member + 1];
      static_cast<MatrixLane*>(lanes[l])->r[i] = first | static_cast<uint32_t>(second) << 16;
    }
  }
}

}  // namespace

void load_matrices(uint32_t (&r)[4], const void* row, bool is_transposed, Where where) {
  if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
    fail<BackendError>("cuda", "ldmatrix at ", where, ": expected rows aligned to 16 bytes");
  MatrixLane lane{r, row, is_transposed};
  this_block().warp({is_transposed ? "ldmatrix.trans" : "ldmatrix", ~0u, where, load}, &lane);
}

}  // namespace farfield::emulation
