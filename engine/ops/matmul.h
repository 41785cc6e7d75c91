#pragma once

#include "engine/activation.h"
#include "engine/gemm.h"
#include "engine/tensor.h"

namespace farfield {

/// Matrix product, or one for each index of the leading dimensions.
///
/// Shapes    a [..., M, K], b [..., K, N] with equal leading dimensions -> [..., M, N]
/// Types     one floating type for all; bfloat16 is summed in float32
/// Throws    ShapeError, DTypeError
Tensor matmul(const Tensor& a, const Tensor& b);

/// y = f(x w^T + bias), with bias and activation applied to each panel of the product while it is
/// in cache. Activation::gelu is the exact one, u Phi(u).
///
/// Shapes    x [..., I], w [O, I], bias [O] or undefined -> [..., O]
/// Types     w and bias are master values: float32 for x in float32 or bfloat16 (w is then rounded
///           to bfloat16 on the way in, unless it keeps itself rounded (Tensor::keep_rounded()),
///           and its gradient is float32), float64 for float64. A w without a gradient may have
///           the type of x. backward() reads w again: do not
///           write to w in between
/// Throws    ShapeError, DTypeError
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias = {},
              Activation activation = Activation::none);

/// x w^T in the accumulation type: products of bfloat16 are not rounded. Not differentiable.
///
/// Shapes    x [..., I], w [O, I] -> [..., O]
/// Types     one floating type for both
/// Throws    ShapeError, DTypeError, DeviceError
Tensor wide_linear(const Tensor& x, const Tensor& w);

/// The product of kernels/gemm.h on a device; nothing is checked.
void gemm(const Device& device, const Gemm& product);

}  // namespace farfield
