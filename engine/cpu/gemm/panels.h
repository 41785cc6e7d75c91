#pragma once
// How a product is cut, by its shape alone, and how one panel of it is computed.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/gemm/library.h"
#include "engine/storage.h"

namespace farfield {

/// Working memory from the allocator: counted, and used again.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t size) : storage_(size * static_cast<int64_t>(sizeof(T)), Device{}) {}
  T* data() { return static_cast<T*>(storage_.data()); }

 private:
  Storage storage_;
};

/// Pieces of a length: a step each, or so many, as equal as whole steps allow. The last step may be
/// shorter.
struct Cut {
  int64_t size = 0, step = 1;
  int64_t pieces = 0;  ///< 0: as many as there are steps
  int64_t n_step() const { return (size + step - 1) / step; }
  int64_t count() const { return pieces > 0 ? pieces : n_step(); }
  /// i <= count(), which is not 0.
  int64_t begin(int64_t i) const { return std::min(size, i * n_step() / count() * step); }
  int64_t length(int64_t i) const { return begin(i + 1) - begin(i); }
};

/// Panels of C, and, where those are few, pieces of the inner dimension as well.
struct Panels {
  Cut m, n, k;
  int64_t count() const { return m.count() * n.count(); }
};
/// m, n, k >= 1
Panels cut_panels(int64_t m, int64_t n, int64_t k, bool may_cut_k);
/// For a library that packs B: small panels, since packing costs them nothing.
Panels cut_packed(int64_t m, int64_t n, int64_t k, const PackedGemm& packed);

/// The part of a product for rows [m0, m0 + m) and columns [n0, n0 + n) of C and [k0, k0 + k) of
/// the inner dimension.
Gemm part_of(const Gemm& p, int64_t m0, int64_t m, int64_t n0, int64_t n, int64_t k0, int64_t k);

/// The preferred library for a product of these types with m rows, widened when none takes
/// bfloat16.
const GemmLibrary& library_for(DType in, DType out, int64_t m);

/// One panel on the calling thread: by the library as it is, or with operands of bfloat16 widened
/// on the way; a thin one (thin.h) without it. m, n, k >= 1.
void panel_product(const GemmLibrary& library, const Gemm& panel);

/// to[c, r] = from[r, c], widened; rows of `ld` and `ld_to` elements.
template <class From, class To>
void transpose(const From* from, int64_t ld, int64_t rows, int64_t columns, To* to, int64_t ld_to) {
  // Through a tile that stays in the first cache: both sides are read and written in runs.
  constexpr int64_t kTile = 16;
  for (int64_t r = 0; r < rows; r += kTile)
    for (int64_t c = 0; c < columns; c += kTile) {
      const From* const in = from + r * ld + c;
      To* const out = to + c * ld_to + r;
      To tile[kTile][kTile];
      const int64_t n_row = std::min(kTile, rows - r), n_column = std::min(kTile, columns - c);
      if (n_row == kTile && n_column == kTile) {
        for (int64_t i = 0; i < kTile; ++i)
          for (int64_t j = 0; j < kTile; ++j) tile[j][i] = static_cast<To>(in[i * ld + j]);
        for (int64_t j = 0; j < kTile; ++j)
          for (int64_t i = 0; i < kTile; ++i) out[j * ld_to + i] = tile[j][i];
      } else {
        for (int64_t i = 0; i < n_row; ++i)
          for (int64_t j = 0; j < n_column; ++j)
            out[j * ld_to + i] = static_cast<To>(in[i * ld + j]);
      }
    }
}

/// Elements from one row to the next in a scratch matrix: rows a multiple of a page apart would
/// compete for the same lines of the first cache.
inline int64_t padded_stride(int64_t columns) {
  return columns % 256 == 0 ? columns + 16 : columns;
}

}  // namespace farfield
