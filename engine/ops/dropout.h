#pragma once

#include "engine/base/random.h"
#include "engine/tensor.h"

namespace farfield {

/// The columns (of the last dimension) that a tensor has of a larger one.
struct Columns {
  int64_t begin = 0;
  int64_t n_whole = 0;  ///< of the larger one; 0: there is no larger one
};

/// Each element is 0 with probability p, and else divided by 1 - p, so that its mean stays. Which
/// ones is a pure function of (random, index of the element in row-major order): the same on every
/// device, in every dtype and when it is repeated. No mask is kept for the way back.
///
/// p is rounded to a multiple of 2^-16, the largest is 1 - 2^-16; where that is 0 this is x itself.
/// p is the rounded one in 1 - p.
///
/// `first`: x is a part of a larger array and takes its part of that array's mask; first is the
/// index of x's first element there. With `columns`, x has these columns of rows of the array, and
/// first is the index of the first row's first element.
///
/// With `stream`, int32 [2] on x's device, its words, the low one first, take the place of
/// random.stream. They are read when the mask is made: work that is recorded once (step_graph.h)
/// drops other elements when they have changed.
///
/// Throws    ConfigError unless 0 <= p < 1 and first is a multiple of 8, DTypeError for int32,
///           ShapeError for columns that the larger array does not have, and for another stream
/// Source    Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from
///           overfitting"
Tensor dropout(const Tensor& x, double p, const Random& random, int64_t first = 0,
               const Columns& columns = {}, const Tensor& stream = {});

}  // namespace farfield
