#pragma once

#include "engine/gemm.h"

namespace farfield {

/// One row, one column, or an inner dimension of one. Libraries take a matrix for plain or for
/// transposed by its strides, and a dimension of length 1 has none that says which: oneDNN 3.7.2
/// then reads other elements than were given, without an error.
inline bool is_thin(const Gemm& p) { return p.m == 1 || p.n == 1 || p.k == 1; }

/// Such a product, of any floating type, on the calling thread: limited by how fast a matrix is
/// read, so no library is needed. m, n, k >= 1. Each sum has an order that its length fixes.
void thin_product(const Gemm& p);

}  // namespace farfield
