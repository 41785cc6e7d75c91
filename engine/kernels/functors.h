#pragma once
// Scalar formulas with their derivatives, written once for both devices. A functor becomes an op by
// its name in one of the lists at the end; both backends build their tables from those lists.
//
// Unary:  operator()(x) is y; grad(x, y) is dy/dx, and kKeeps says which of the two it reads.
// Binary: operator()(a, b) is y; grad_a(a, b), grad_b(a, b) are dy/da, dy/db.
// T is float (also for bfloat16 tensors) or double.

#include <cmath>
#include <type_traits>

#include "engine/host_device.h"
#include "engine/kernels/pointwise.h"
#include "engine/vector_math.h"

namespace farfield {

/// The value of the forward pass that a derivative needs.
enum class Keeps { nothing, input, output };

struct Negate {
  static constexpr const char* kName = "negate";
  static constexpr Keeps kKeeps = Keeps::nothing;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return -x;
  }
  template <class T>
  FARFIELD_HD T grad(T, T) const {
    return T(-1);
  }
};

struct Exp {
  static constexpr const char* kName = "exp";
  static constexpr Keeps kKeeps = Keeps::output;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return fast_exp(x);
  }
  template <class T>
  FARFIELD_HD T grad(T, T y) const {
    return y;
  }
};

struct Log {
  static constexpr const char* kName = "log";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return std::log(x);
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    return 1 / x;
  }
};

/// y = log(1 + x), accurate near 0.
struct Log1p {
  static constexpr const char* kName = "log1p";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return std::log1p(x);
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    return 1 / (1 + x);
  }
};

struct Sqrt {
  static constexpr const char* kName = "sqrt";
  static constexpr Keeps kKeeps = Keeps::output;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return std::sqrt(x);
  }
  template <class T>
  FARFIELD_HD T grad(T, T y) const {
    return T(0.5) / y;
  }
};

struct Square {
  static constexpr const char* kName = "square";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return x * x;
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    return 2 * x;
  }
};

struct Sin {
  static constexpr const char* kName = "sin";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return std::sin(x);
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    return std::cos(x);
  }
};

struct Cos {
  static constexpr const char* kName = "cos";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return std::cos(x);
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    return -std::sin(x);
  }
};

struct Tanh {
  static constexpr const char* kName = "tanh";
  static constexpr Keeps kKeeps = Keeps::output;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return fast_tanh(x);
  }
  template <class T>
  FARFIELD_HD T grad(T, T y) const {
    return 1 - y * y;
  }
};

/// y = 1 / (1 + e^-x)
struct Sigmoid {
  static constexpr const char* kName = "sigmoid";
  static constexpr Keeps kKeeps = Keeps::output;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return 1 / (1 + fast_exp(-x));
  }
  template <class T>
  FARFIELD_HD T grad(T, T y) const {
    return y * (1 - y);
  }
};

/// y = x sigmoid(x). Elfwing, Uchibe and Doya 2018, arXiv:1702.03118.
struct Silu {
  static constexpr const char* kName = "silu";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return x / (1 + fast_exp(-x));
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    const T s = 1 / (1 + fast_exp(-x));
    return s + x * s * (1 - s);
  }
};

/// y = x Phi(x), Phi the standard normal distribution function. Hendrycks and Gimpel 2016,
/// arXiv:1606.08415.
struct Gelu {
  static constexpr const char* kName = "gelu";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return fast_gelu(x);
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    return fast_gelu_grad(x);
  }
};

/// y = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x sigmoid(u), u = 2 sqrt(2 / pi) (x +
/// 0.044715 x^3): GELU's approximation by tanh. Hendrycks and Gimpel 2016, arXiv:1606.08415,
/// section 2.
struct GeluTanh {
  static constexpr const char* kName = "gelu_tanh";
  static constexpr Keeps kKeeps = Keeps::input;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return x * sigmoid_of(x);
  }
  template <class T>
  FARFIELD_HD T grad(T x, T) const {
    const T s = sigmoid_of(x);
    return s + x * s * (1 - s) * T(kScale) * (1 + T(3 * kCubic) * x * x);
  }

 private:
  static constexpr double kScale = 1.5957691216057308;  // 2 sqrt(2 / pi)
  static constexpr double kCubic = 0.044715;
  template <class T>
  FARFIELD_HD static T sigmoid_of(T x) {
    return 1 / (1 + fast_exp(-T(kScale) * (x + T(kCubic) * x * x * x)));
  }
};

/// y = max(x, 0); the derivative at 0 is 0. A NaN stays a NaN.
struct Relu {
  static constexpr const char* kName = "relu";
  static constexpr Keeps kKeeps = Keeps::output;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return x < 0 ? T(0) : x;
  }
  template <class T>
  FARFIELD_HD T grad(T, T y) const {
    return y > 0 ? T(1) : T(0);
  }
};

/// y = elu(x) + 1: x + 1 above 0, else e^x. Katharopoulos et al. 2020, arXiv:2006.16236.
struct EluPlusOne {
  static constexpr const char* kName = "elu_plus_one";
  static constexpr Keeps kKeeps = Keeps::output;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return x > 0 ? x + 1 : fast_exp(x);
  }
  template <class T>
  FARFIELD_HD T grad(T, T y) const {
    return y > 1 ? T(1) : y;
  }
};

/// y = 1 above 0 and 0 below; at 0 it is x, and a NaN stays a NaN. The derivative is 0.
struct Heaviside {
  static constexpr const char* kName = "heaviside";
  static constexpr Keeps kKeeps = Keeps::nothing;
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return x > 0 ? T(1) : x < 0 ? T(0) : x;
  }
  template <class T>
  FARFIELD_HD T grad(T, T) const {
    return T(0);
  }
};

struct Add {
  static constexpr const char* kName = "add";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return a + b;
  }
  template <class T>
  FARFIELD_HD T grad_a(T, T) const {
    return T(1);
  }
  template <class T>
  FARFIELD_HD T grad_b(T, T) const {
    return T(1);
  }
};

struct Subtract {
  static constexpr const char* kName = "subtract";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return a - b;
  }
  template <class T>
  FARFIELD_HD T grad_a(T, T) const {
    return T(1);
  }
  template <class T>
  FARFIELD_HD T grad_b(T, T) const {
    return T(-1);
  }
};

struct Multiply {
  static constexpr const char* kName = "multiply";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return a * b;
  }
  template <class T>
  FARFIELD_HD T grad_a(T, T b) const {
    return b;
  }
  template <class T>
  FARFIELD_HD T grad_b(T a, T) const {
    return a;
  }
};

struct Divide {
  static constexpr const char* kName = "divide";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return a / b;
  }
  template <class T>
  FARFIELD_HD T grad_a(T, T b) const {
    return 1 / b;
  }
  template <class T>
  FARFIELD_HD T grad_b(T a, T b) const {
    return -a / (b * b);
  }
};

/// y = silu(a) b: the gate of a gated MLP. Shazeer 2020, "GLU Variants Improve Transformer",
/// arXiv:2002.05202, equation 6.
struct SwiGlu {
  static constexpr const char* kName = "swiglu";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return Silu()(a) * b;
  }
  template <class T>
  FARFIELD_HD T grad_a(T a, T b) const {
    return Silu().grad(a, T(0)) * b;
  }
  template <class T>
  FARFIELD_HD T grad_b(T a, T) const {
    return Silu()(a);
  }
};

/// y = a^b; where a = 0 the derivative by b is taken as 0, its limit for b > 0.
struct Power {
  static constexpr const char* kName = "pow";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return std::pow(a, b);
  }
  template <class T>
  FARFIELD_HD T grad_a(T a, T b) const {
    return b == 0 ? T(0) : b * std::pow(a, b - 1);
  }
  template <class T>
  FARFIELD_HD T grad_b(T a, T b) const {
    return a == 0 ? T(0) : std::pow(a, b) * std::log(a);
  }
};

/// y = max(a, b), NaN when one is; equals share the gradient.
struct Maximum {
  static constexpr const char* kName = "maximum";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
  template <class T>
  FARFIELD_HD T grad_a(T a, T b) const {
    return a > b ? T(1) : a == b ? T(0.5) : T(0);
  }
  template <class T>
  FARFIELD_HD T grad_b(T a, T b) const {
    return b > a ? T(1) : a == b ? T(0.5) : T(0);
  }
};

/// y = min(a, b), NaN when one is; equals share the gradient.
struct Minimum {
  static constexpr const char* kName = "minimum";
  template <class T>
  FARFIELD_HD T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
  template <class T>
  FARFIELD_HD T grad_a(T a, T b) const {
    return a < b ? T(1) : a == b ? T(0.5) : T(0);
  }
  template <class T>
  FARFIELD_HD T grad_b(T a, T b) const {
    return b < a ? T(1) : a == b ? T(0.5) : T(0);
  }
};

template <class... Functors>
struct FunctorList {};

using UnaryFunctors = FunctorList<Negate, Exp, Log, Log1p, Sqrt, Square, Sin, Cos, Tanh, Sigmoid,
                                  Silu, Gelu, GeluTanh, Relu, EluPlusOne, Heaviside>;
using BinaryFunctors =
    FunctorList<Add, Subtract, Multiply, Divide, SwiGlu, Power, Maximum, Minimum>;

/// The place of Functor in a list.
template <class Functor, class... Functors>
constexpr int index_in(FunctorList<Functors...>) {
  int index = 0;
  (void)((std::is_same_v<Functor, Functors> || (++index, false)) || ...);
  return index;
}
template <class Functor>
constexpr UnaryOp unary_op = UnaryOp{index_in<Functor>(UnaryFunctors{})};
template <class Functor>
constexpr BinaryOp binary_op = BinaryOp{index_in<Functor>(BinaryFunctors{})};

/// Calls f with the functor at `op` of the list.
template <class Op, class F, class... Functors>
void visit_functor(FunctorList<Functors...>, Op op, const F& f) {
  int index = 0;
  (void)((index++ == static_cast<int>(op) && (f(Functors{}), true)) || ...);
}

}  // namespace farfield
