#pragma once
// Every tolerance of the engine's tests, by dtype and kind of work, with its reason. Loosening one
// is its own commit.

#include "engine/dtype.h"

namespace farfield {

/// got agrees with want when |got - want| <= absolute + relative |want|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;

  Tolerance() = default;
  Tolerance(double absolute_, double relative_) : absolute(absolute_), relative(relative_) {}
  /// `both` absolute and relative: right for values around one.
  Tolerance(double both) : absolute(both), relative(both) {}  // NOLINT: implicit on purpose
};

enum class Work {
  pointwise,  ///< a few operations on each element
  reduction,  ///< a sum or a norm over up to a few thousand elements of size one
  product,    ///< a matrix product or attention, inner dimension up to a few hundred
  /// products of bfloat16 summed by tensor cores into float32, over up to a few thousand
  tensor_core_sum,
  gradient,  ///< a gradient in float64 against central differences of step 1e-5
};

/// The tolerance of a result in `dtype` against the same computation in float64, for equal inputs
/// (rounded to `dtype` first) of size one.
inline Tolerance tolerance(DType dtype, Work work) {
  // Central differences: truncation h^2 f'''/6 is about 1e-10, rounding eps/h about 2e-11; the rest
  // is room for steep functions.
  if (work == Work::gradient) return {1e-7, 1e-7};
  // Tensor cores drop the bits that do not fit into a sum in place of rounding: 1000 products of
  // numbers up to 2, in one go, differ from the exact sum by up to 3e-5 + 3e-5 of it.
  if (work == Work::tensor_core_sum) return {1e-4, 1e-4};
  switch (dtype) {
    case DType::f64:  // eps is 2.2e-16; sums of a thousand terms lose a few hundred of them at
                      // worst
      return work == Work::pointwise ? Tolerance{1e-14, 1e-14} : Tolerance{1e-12, 1e-12};
    case DType::f32:  // eps is 1.2e-7: a few roundings; sums in lanes, errors grow like a root
      return work == Work::pointwise   ? Tolerance{5e-7, 5e-7}
             : work == Work::reduction ? Tolerance{5e-6, 5e-6}
                                       : Tolerance{2e-5, 2e-5};
    case DType::bf16:  // computed in float32, one rounding on store: 2^-9 relative; a product may
                       // be stored twice (forward value, then its use)
      return work == Work::product ? Tolerance{1e-2, 1e-2} : Tolerance{1e-4, 0x1.02p-8};
    case DType::i32:
      break;
  }
  return {0, 0};
}

/// The tolerance between two results in `dtype`, each within its tolerance of the exact one. Two
/// bfloat16 on either side of a rounding boundary are a whole step apart.
inline Tolerance tolerance_between(DType dtype, Work work) {
  const Tolerance one = tolerance(dtype, work);
  return {2 * one.absolute, 2 * one.relative};
}

}  // namespace farfield
