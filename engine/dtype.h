#pragma once

#include <bit>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/base/error.h"
#include "engine/host_device.h"

namespace farfield {

/// The upper half of a float32: 8 exponent bits, 7 stored mantissa bits. A storage type: widen,
/// compute, round once.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// Rounds to nearest, ties to even; a NaN stays a NaN.
  FARFIELD_HD explicit BFloat16(float x) {
#ifdef __CUDA_ARCH__
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));  // one instruction; a NaN is 0x7fff
#else
    const auto u = std::bit_cast<uint32_t>(x);
    bits = (u & 0x7fffffffu) > 0x7f800000u
               ? static_cast<uint16_t>((u >> 16) | 0x40u)
               : static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
#endif
  }
  FARFIELD_HD explicit BFloat16(double x) : BFloat16(static_cast<float>(x)) {}
  FARFIELD_HD explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  FARFIELD_HD explicit operator double() const { return static_cast<float>(*this); }
};
static_assert(sizeof(BFloat16) == 2);

enum class DType { f32, bf16, f64, i32 };

constexpr int64_t size_of(DType dtype) {
  return dtype == DType::f64 ? 8 : dtype == DType::bf16 ? 2 : 4;
}
constexpr bool is_float(DType dtype) { return dtype != DType::i32; }
constexpr std::string_view name(DType dtype) {
  constexpr std::string_view kNames[] = {"float32", "bfloat16", "float64", "int32"};
  return kNames[static_cast<int>(dtype)];
}
inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::f32> {};
template <>
struct DTypeOf<BFloat16> : std::integral_constant<DType, DType::bf16> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::f64> {};
template <>
struct DTypeOf<int32_t> : std::integral_constant<DType, DType::i32> {};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// The type in which values of T are computed and summed: double for double, float for the rest.
template <class T>
using Accumulate = std::conditional_t<std::is_same_v<T, double>, double, float>;
constexpr DType accumulate_dtype(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

/// Calls f(T{}) with the C++ type of a floating dtype; DTypeError for int32.
template <class F>
decltype(auto) dispatch_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::bf16:
      return f(BFloat16{});
    case DType::f64:
      return f(double{});
    case DType::i32:
      break;
  }
  fail<DTypeError>("dtype", "expected a floating type, got ", dtype);
}

/// Calls f(T{}) with the C++ type of any dtype.
template <class F>
decltype(auto) dispatch_any(DType dtype, F&& f) {
  if (dtype == DType::i32) return f(int32_t{});
  return dispatch_float(dtype, f);
}

}  // namespace farfield
