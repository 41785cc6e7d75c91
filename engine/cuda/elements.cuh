#pragma once
// Elements of a tensor, taken by each thread in pieces of 16 bytes where their place allows.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/pack.cuh"
#include "engine/dtype.h"

namespace farfield {

/// kN neighbours in memory, which are loaded and stored 16 bytes at a time, or at once when they
/// are fewer. Loops over them run to kN, which the compiler unrolls: an index that it does not know
/// would put them into local memory.
template <class T, int kN>
struct alignas(std::min<size_t>(16, sizeof(T) * kN)) Vector {
  T at[kN];
};

/// How many elements a thread takes of arrays of these types: 16 bytes of the widest.
template <class... T>
inline constexpr int kPieceSize = 16 / static_cast<int>(std::max({sizeof(T)...}));

/// Whether all of these begin where 16 bytes may be loaded at once.
template <class... T>
FARFIELD_HD bool is_aligned(const T*... begin) {
  return ((reinterpret_cast<uintptr_t>(begin) % 16 == 0) && ...);
}

/// The elements begin .. begin + n of an array, n <= kN; when is_whole, n = kN and they are loaded
/// and stored at once.
template <int kN, bool kIsAligned = false>
struct Piece {
  int64_t begin;
  int n;
  bool is_whole;

  __device__ bool has(int i) const { return i < n; }
};
/// A piece of an array that is aligned to 16 bytes and holds only whole pieces: complete or absent.
/// This saves code for single elements, which costs registers even if it does not run.
template <int kN>
struct Piece<kN, true> {
  int64_t begin;
  bool is_whole;

  __device__ bool has(int) const { return is_whole; }
};

/// The number of this thread in a grid of one dimension.
__device__ inline int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// This thread's part of n elements, in a grid of one dimension.
template <int kN>
__device__ Piece<kN> this_piece(int64_t n, bool is_aligned) {
  const int64_t begin = thread_index() * kN, left = n - begin;
  const int own = left <= 0 ? 0 : left < kN ? static_cast<int>(left) : kN;
  return {begin, own, is_aligned && own == kN};
}

/// Elements beyond the end of the piece are 0.
template <class T, int kN, bool kIsAligned>
__device__ Vector<T, kN> load(const T* from, const Piece<kN, kIsAligned>& piece) {
  if constexpr (kIsAligned) {
    // As words: nvcc would make zeros, and choose, for each bfloat16 in a register of its own.
    using Words = Vector<uint32_t, sizeof(Vector<T, kN>) / sizeof(uint32_t)>;
    Words words{};
    if (piece.is_whole) words = *reinterpret_cast<const Words*>(from + piece.begin);
    return std::bit_cast<Vector<T, kN>>(words);
  } else {
    if (piece.is_whole) return *reinterpret_cast<const Vector<T, kN>*>(from + piece.begin);
    Vector<T, kN> values{};
    for (int i = 0; i < kN; ++i)
      if (i < piece.n) values.at[i] = from[piece.begin + i];
    return values;
  }
}

template <class T, int kN, bool kIsAligned>
__device__ void store(const Vector<T, kN>& values, const Piece<kN, kIsAligned>& piece, T* to) {
  if (piece.is_whole) {
    *reinterpret_cast<Vector<T, kN>*>(to + piece.begin) = values;
  } else if constexpr (!kIsAligned) {
    for (int i = 0; i < kN; ++i)
      if (i < piece.n) to[piece.begin + i] = values.at[i];
  }
}

/// A value as kernels compute with it: bfloat16 as float32.
template <class T>
FARFIELD_HD auto widen(T x) {
  if constexpr (std::is_same_v<T, BFloat16>)
    return static_cast<float>(x);
  else
    return x;
}

/// The reverse, rounded once.
template <class T, class Value>
FARFIELD_HD T narrow(Value x) {
  if constexpr (std::is_same_v<T, BFloat16>)
    return BFloat16(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// The same of each: two bfloat16 of a word by one instruction each.
template <class T, int kN>
__device__ Vector<float, kN> widened(const Vector<T, kN>& x) {
  Vector<float, kN> y;
  if constexpr (std::is_same_v<T, BFloat16> && kN % 2 == 0) {
    const auto words = std::bit_cast<Vector<uint32_t, kN / 2>>(x);
    for (int i = 0; i < kN / 2; ++i) {
      y.at[2 * i] = first_of(words.at[i]);
      y.at[2 * i + 1] = second_of(words.at[i]);
    }
  } else {
    for (int i = 0; i < kN; ++i) y.at[i] = widen(x.at[i]);
  }
  return y;
}

template <class T, class Value, int kN>
__device__ Vector<T, kN> narrowed(const Vector<Value, kN>& x) {
  if constexpr (std::is_same_v<T, BFloat16> && std::is_same_v<Value, float> && kN % 2 == 0) {
    Vector<uint32_t, kN / 2> words;
    for (int i = 0; i < kN / 2; ++i) words.at[i] = round_and_pack(x.at[2 * i], x.at[2 * i + 1]);
    return std::bit_cast<Vector<T, kN>>(words);
  } else {
    Vector<T, kN> y;
    for (int i = 0; i < kN; ++i) y.at[i] = narrow<T>(x.at[i]);
    return y;
  }
}

/// f(T{}) with float32 or bfloat16; DTypeError for others.
template <class F>
void dispatch_device_float(DType dtype, const F& f) {
  require_device_float(dtype);
  if (dtype == DType::bf16)
    f(BFloat16{});
  else
    f(float{});
}

inline constexpr int kThreads = 256;  ///< of a block whose threads need nothing of each other

/// The blocks of one dimension that hold n_threads threads.
inline dim3 blocks_for(int64_t n_threads, int block = kThreads) {
  return static_cast<unsigned>((n_threads + block - 1) / block);
}

}  // namespace farfield
