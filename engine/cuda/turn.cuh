#pragma once
// Heads turned by tables of angles in device memory. A thread takes units of a head: kN components
// and the kN that they are turned with, so that each is read once, and so are their angles.

#include <cmath>

#include "engine/cuda/elements.cuh"
#include "engine/kernels/split_heads.h"

namespace farfield {

/// The angles of q, of k, or of far copies of either: rows of `half` for each position.
struct Angles {
  const float *cos = nullptr, *sin = nullptr, *scale = nullptr;
  int64_t batch_stride = 0;
  int half = 0;  ///< pairs that are turned; 0: none
  bool interleaved = false;

  Angles() = default;
  Angles(const Rotation& r, const Tensor& of_cos, const Tensor& of_sin, const Tensor& of_scale = {})
      : interleaved(r.interleaved) {
    if (!of_cos.defined()) return;
    cos = of_cos.data<float>();
    sin = of_sin.data<float>();
    if (of_scale.defined()) scale = of_scale.data<float>();
    if (of_cos.rank() == 3) batch_stride = of_cos.dim(1) * of_cos.dim(2);
    half = static_cast<int>(of_cos.dim(-1));
  }
  static Angles of_q(const Rotation& r) { return {r, r.cos, r.sin, r.scale_q}; }
  static Angles of_k(const Rotation& r) { return {r, r.cos, r.sin, r.scale_k}; }

  /// Whether units of n components may be taken at once, where heads begin at multiples of them.
  FARFIELD_HD bool fits(int n) const {
    return (interleaved ? 2 * half : half) % n == 0 && is_aligned(cos, sin, scale);
  }

  /// Units of kN components that are turned, and of all components of a head.
  template <int kN>
  FARFIELD_HD int n_turned_unit() const {
    return (has_whole_pairs<kN>() ? 2 * half : half) / kN;
  }
  template <int kN>
  FARFIELD_HD int n_unit(int head_dim) const {
    return (has_whole_pairs<kN>() ? head_dim : head_dim - half) / kN;
  }
  /// Whether the pairs of a piece of kN components are within it.
  template <int kN>
  FARFIELD_HD bool has_whole_pairs() const {
    return kN > 1 && interleaved;
  }
  FARFIELD_HD int64_t row(int64_t b, int64_t t) const { return b * batch_stride + t * half; }
};

template <int kN, class T>
__device__ Vector<T, kN> load_whole(const T* from) {
  return *reinterpret_cast<const Vector<T, kN>*>(from);
}

/// The columns of a unit in its head: the first kN components, and where the kN begin that they are
/// turned with, or -1: pairs are within the first, or not turned.
struct UnitColumns {
  int first, second;

  template <int kN>
  static __device__ UnitColumns of(int unit, const Angles& angles) {
    const int n_pair_unit = angles.has_whole_pairs<kN>() ? 0 : angles.half / kN;
    if (unit >= n_pair_unit) return {(unit + n_pair_unit) * kN, -1};
    if (angles.interleaved) return {2 * unit, 2 * unit + 1};
    return {unit * kN, unit * kN + angles.half};
  }
};

/// Angles of kN pairs that follow each other.
template <bool kIsBack, int kN>
struct Turn {
  Vector<float, kN> cos, sin;

  __device__ Turn(const Angles& angles, int64_t at)
      : cos(load_whole<kN>(angles.cos + at)), sin(load_whole<kN>(angles.sin + at)) {
    const Vector<float, kN> scale = angles.scale ? load_whole<kN>(angles.scale + at) : ones();
    for (int i = 0; i < kN; ++i) {
      cos.at[i] = cos.at[i] * scale.at[i];
      sin.at[i] = kIsBack ? -sin.at[i] * scale.at[i] : sin.at[i] * scale.at[i];
    }
  }
  static __device__ Vector<float, kN> ones() {
    Vector<float, kN> x;
    for (int i = 0; i < kN; ++i) x.at[i] = 1;
    return x;
  }
};

/// turned_first() and turned_second(), with products and sums fused by name: where the compiler is
/// to choose, it chooses differently from kernel to kernel, and so do the last bits.
struct TurnedPair {
  float first, second;

  __device__ TurnedPair(float a, float b, float cos, float sin)
      : first(std::fma(a, cos, -(b * sin))), second(std::fma(a, sin, b * cos)) {}
};

/// The components of a unit of a head, turned, or turned back when kIsBack; as they are where they
/// are not turned. row: angles.row() of the head's position.
template <bool kIsBack, int kN>
struct Unit {
  Vector<float, kN> first, second;

  template <class T>
  __device__ Unit(const T* head, const UnitColumns& at, const Angles& angles, int64_t row)
      : first(widened(load_whole<kN>(head + at.first))), second() {
    if (at.second >= 0) {
      second = widened(load_whole<kN>(head + at.second));
      const Turn<kIsBack, kN> turn(angles, row + (angles.interleaved ? at.first / 2 : at.first));
      for (int i = 0; i < kN; ++i) {
        const TurnedPair y(first.at[i], second.at[i], turn.cos.at[i], turn.sin.at[i]);
        first.at[i] = y.first;
        second.at[i] = y.second;
      }
    } else if constexpr (kN > 1) {
      if (at.first >= 2 * angles.half) return;
      const Turn<kIsBack, kN / 2> turn(angles, row + at.first / 2);
      for (int i = 0; i < kN / 2; ++i) {
        const TurnedPair y(first.at[2 * i], first.at[2 * i + 1], turn.cos.at[i], turn.sin.at[i]);
        first.at[2 * i] = y.first;
        first.at[2 * i + 1] = y.second;
      }
    }
  }

  /// Rounds into a head, at the same columns.
  template <class T>
  __device__ void put(T* head, const UnitColumns& at) const {
    *reinterpret_cast<Vector<T, kN>*>(head + at.first) = narrowed<T>(first);
    if (at.second >= 0) *reinterpret_cast<Vector<T, kN>*>(head + at.second) = narrowed<T>(second);
  }
  __device__ void add(const Unit& other) {
    for (int i = 0; i < kN; ++i) first.at[i] += other.first.at[i];
    for (int i = 0; i < kN; ++i) second.at[i] += other.second.at[i];
  }
};

}  // namespace farfield
