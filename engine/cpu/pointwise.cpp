#include "engine/kernels/pointwise.h"

#include <algorithm>
#include <cstring>

#include "engine/base/parallel.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

// f(T{}) for every dtype, int32 included.
template <class F>
void dispatch_any(DType dtype, const F& f) {
  if (dtype == DType::i32)
    f(int32_t{});
  else
    dispatch_float(dtype, f);
}

}  // namespace

void fill(Cpu, double value, Tensor& x) {
  dispatch_any(x.dtype(), [&](auto type) {
    using T = decltype(type);
    T* const data = x.data<T>();
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      std::fill(data + begin, data + end, static_cast<T>(value));
    });
  });
}

void copy_bytes(Cpu, const Tensor& x, Tensor& y) {
  const auto* from = static_cast<const char*>(x.raw_data());
  auto* to = static_cast<char*>(y.raw_data());
  parallel_chunks(x.size_bytes(), kGrain * 8, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

void cast(Cpu, const Tensor& x, Tensor& y) {
  dispatch_any(x.dtype(), [&](auto from_type) {
    dispatch_any(y.dtype(), [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      const From* const from = x.data<From>();
      To* const to = y.data<To>();
      parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if constexpr (std::is_same_v<From, BFloat16> || std::is_same_v<To, BFloat16>)
            to[i] = static_cast<To>(static_cast<float>(from[i]));
          else
            to[i] = static_cast<To>(from[i]);
        }
      });
    });
  });
}

void add_in_place(Cpu, const Tensor& x, Tensor& y) {
  dispatch_float(y.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = static_cast<T>(static_cast<A>(to[i]) + static_cast<A>(from[i]));
    });
  });
}

void scale_in_place(Cpu, double factor, Tensor& x) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    T* const data = x.data<T>();
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        data[i] = static_cast<T>(static_cast<A>(data[i]) * static_cast<A>(factor));
    });
  });
}

}  // namespace farfield
