#pragma once

#include <limits>

#include "engine/cuda/exp2.cuh"
#include "engine/cuda/row.cuh"
#include "engine/cuda/shared_row.cuh"
#include "engine/vector_math.h"

namespace farfield {

/// Where the row ends, an element that counts for nothing in a maximum or a sum of exponentials.
template <int kN, bool kIsAligned>
__device__ void fill_beyond(const Piece<kN, kIsAligned>& piece, Vector<float, kN>& values) {
  if (piece.is_whole) return;
  for (int i = 0; i < kN; ++i)
    if (!piece.has(i)) values.at[i] = -std::numeric_limits<float>::infinity();
}

/// The elements of a row as float32, with -infinity beyond its end.
template <class Size, class T, int kN, bool kIsAligned>
__device__ auto row_for_exp_sum(const T* from, const RowPieces<Size, kN, kIsAligned>& pieces) {
  using Piece = farfield::Piece<kN, kIsAligned>;
  if constexpr (kIsSharedRow<Size>)
    return SharedRow(pieces, from, [](const Piece& piece, const Vector<T, kN>& in) {
      Vector<float, kN> values = widened(in);  // by words, which takes fewer registers here
      fill_beyond(piece, values);
      return values;
    });
  else
    return Row(pieces, [from](const Piece& piece) {
      const Vector<T, kN> in = load(from, piece);
      Vector<float, kN> values;
      for (int i = 0; i < kN; ++i) values.at[i] = widen(in.at[i]);
      fill_beyond(piece, values);
      return values;
    });
}

/// e^x of a difference from the largest element of a row: x <= 0, -infinity or NaN. Relative error
/// below 1.5e-7 + 1.2e-7 |x|, a flush to 0 below -87.3.
/// approximate_exp2() and a product, where that is an instruction.
__device__ inline float exp_of_difference(float x) {
#ifdef __CUDA_ARCH__
  return approximate_exp2(x * 1.44269504f);
#else
  return fast_exp(x);
#endif
}

/// The largest element of a row, and the sum of e^(x - max), in each thread that takes part of it.
/// A NaN or +infinity in the row makes the sum NaN; a row of -infinity alone has sum 0.
struct ExpSum {
  float max, sum;
};

/// In one pass: each thread has a maximum of its own, and scales its sum when that grows.
///
/// Source    Milakov and Gimelshein 2018, "Online normalizer calculation for softmax",
///           arXiv:1805.02867, algorithm 3
template <class AnyRow>
__device__ ExpSum exp_sum(const AnyRow& row) {
  using Pieces = typename AnyRow::Pieces;
  using Size = typename Pieces::Size;
  constexpr int kN = Pieces::kN;
  // From a finite value on: the difference of two infinities would be NaN.
  float max = std::numeric_limits<float>::lowest(), sum = 0;
  row.for_each([&](int, const typename Pieces::Piece&, const Vector<float, kN>& x) {
    float most = max;
    for (int i = 0; i < kN; ++i) most = x.at[i] > most ? x.at[i] : most;
    if (most > max) {
      sum *= exp_of_difference(max - most);
      max = most;
    }
    for (int i = 0; i < kN; ++i) sum += exp_of_difference(x.at[i] - max);
  });
  const float most = row_max<Size>(max);
  return {most, row_sum<Size>(sum * exp_of_difference(max - most))};
}

}  // namespace farfield
