#pragma once

#include "engine/tensor.h"

namespace farfield {

// Operations on each element. The dtypes of two tensors must be equal (cast() one of them);
// their shapes broadcast: aligned at the last dimension, sizes equal or 1. A double takes part in
// the accumulation type, unrounded. All differentiable.
//
// Throws    DTypeError for int32 and for unequal dtypes, ShapeError when shapes do not broadcast,
//           DeviceError for tensors of two devices
// Accuracy  float64: the standard library's; float32: the errors stated in vector_math.h;
//           bfloat16: computed in float32, rounded once

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, double b);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, double b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, double b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, double b);
Tensor operator/(double a, const Tensor& b);
Tensor operator-(const Tensor& x);

/// a^b; where a = 0, the gradient of b is 0.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& a, double b);
Tensor pow(double a, const Tensor& b);
/// silu(gate) up, of a gated MLP.
Tensor swiglu(const Tensor& gate, const Tensor& up);
/// Where both are equal they share the gradient.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, double b);
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, double b);

Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor square(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor silu(const Tensor& x);          ///< x sigmoid(x)
Tensor gelu(const Tensor& x);          ///< x Phi(x), the exact (erf) form
Tensor gelu_tanh(const Tensor& x);     ///< its approximation by tanh
Tensor relu(const Tensor& x);          ///< the gradient at 0 is 0
Tensor elu_plus_one(const Tensor& x);  ///< x + 1 above 0, else e^x
Tensor heaviside(const Tensor& x);     ///< 1 above 0, else 0; its gradient is 0

/// x in another dtype; x itself when it has it already. Differentiable between floating types.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace farfield
