#include "engine/kernels/view.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/base/parallel.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

// Calls f with an unsigned integer of the size of an element: arrangement does not look at values.
template <class F>
void dispatch_size(DType dtype, const F& f) {
  switch (size_of(dtype)) {
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

}  // namespace

void permute(Cpu, const Tensor& x, std::span<const int> order, Tensor& y) {
  if (y.numel() == 0) return;
  const int rank = y.rank();
  std::array<int64_t, Shape::kMaxRank> stride{};  // in x, by dimension of y
  for (int i = 0; i < rank; ++i) {
    const int from = order[static_cast<size_t>(i)];
    stride[static_cast<size_t>(i)] = x.shape().product(from + 1, rank);
  }
  const int64_t row = rank > 0 ? y.dim(-1) : 1;
  const int64_t step = rank > 0 ? stride[static_cast<size_t>(rank - 1)] : 1;
  dispatch_size(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const auto* const from = static_cast<const T*>(x.raw_data());
    auto* const to = static_cast<T*>(y.raw_data());
    parallel_chunks(y.numel() / row, std::max<int64_t>(1, kGrain / row),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t r = begin; r < end; ++r) {
                        int64_t offset = 0, rest = r;
                        for (int i = rank - 2; i >= 0; --i) {
                          offset += rest % y.dim(i) * stride[static_cast<size_t>(i)];
                          rest /= y.dim(i);
                        }
                        const T* const in = from + offset;
                        T* const out = to + r * row;
                        if (step == 1)
                          std::copy_n(in, row, out);
                        else
                          for (int64_t i = 0; i < row; ++i) out[i] = in[i * step];
                      }
                    });
  });
}

void copy_blocks(Cpu, const Blocks& blocks, const Tensor& x, Tensor& y) {
  if (blocks.size == 0) return;
  const int64_t width = size_of(x.dtype());
  const auto* const from = static_cast<const char*>(x.raw_data());
  auto* const to = static_cast<char*>(y.raw_data());
  parallel_chunks(blocks.count, std::max<int64_t>(1, kGrain / blocks.size),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i)
                      std::memcpy(to + (blocks.y_offset + i * blocks.y_stride) * width,
                                  from + (blocks.x_offset + i * blocks.x_stride) * width,
                                  static_cast<size_t>(blocks.size * width));
                  });
}

}  // namespace farfield
