#include <array>

#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/kernels/view.h"

namespace farfield {
namespace {

// Arrangement does not look at values: runs are moved in the largest units that divide them.
struct alignas(16) Unit16 {
  uint64_t half[2];
};

// f(a type of `size` bytes), 2, 4, 8 or 16
template <class F>
void dispatch_unit(int64_t size, const F& f) {
  switch (size) {
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Unit16{});
  }
}

// The largest unit, of up to 16 bytes, in which all of these numbers of bytes can be counted.
template <class... Bytes>
int64_t common_unit(Bytes... bytes) {
  int64_t unit = 16;
  while (((static_cast<int64_t>(bytes) % unit != 0) || ...)) unit /= 2;
  return unit;
}

int64_t address(const void* data) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(data)); }

// Sizes and strides in units, by dimension of y, the last first.
struct Permutation {
  int rank = 0;
  std::array<int64_t, Shape::kMaxRank> size{}, x_stride{};
};

template <class Unit>
__global__ void permute_kernel(Permutation p, int64_t n, const Unit* x, Unit* y) {
  const int64_t i = thread_index();
  if (i >= n) return;
  int64_t from = 0, rest = i;
  for (int d = 0; d < Shape::kMaxRank; ++d) {
    if (d >= p.rank) break;
    from += rest % p.size[static_cast<size_t>(d)] * p.x_stride[static_cast<size_t>(d)];
    rest /= p.size[static_cast<size_t>(d)];
  }
  y[i] = x[from];
}

template <class Unit>
__global__ void copy_blocks_kernel(Blocks blocks, const Unit* x, Unit* y) {
  const int64_t i = thread_index();
  if (i >= blocks.count * blocks.size) return;
  const int64_t block = i / blocks.size, at = i % blocks.size;
  y[blocks.y_offset + block * blocks.y_stride + at] =
      x[blocks.x_offset + block * blocks.x_stride + at];
}

}  // namespace

void permute(Cuda device, const Tensor& x, std::span<const int> order, Tensor& y) {
  if (y.numel() == 0) return;
  Permutation p;
  p.rank = y.rank();
  for (int i = 0; i < p.rank; ++i) {
    const auto at = static_cast<size_t>(p.rank - 1 - i);
    p.size[at] = y.dim(i);
    p.x_stride[at] = x.shape().product(order[static_cast<size_t>(i)] + 1, p.rank);
  }
  const int64_t width = size_of(x.dtype());
  int64_t unit = width;
  if (p.rank > 0 && p.x_stride[0] == 1) {  // rows stay together
    unit = common_unit(p.size[0] * width, address(x.raw_data()), address(y.raw_data()));
    for (size_t i = 1; i < p.x_stride.size(); ++i) p.x_stride[i] = p.x_stride[i] * width / unit;
    p.size[0] = p.size[0] * width / unit;
  }
  const int64_t n = y.size_bytes() / unit;
  dispatch_unit(unit, [&](auto type) {
    using Unit = decltype(type);
    launch(permute_kernel<Unit>, blocks_for(n), kThreads, 0, stream_of(device), p, n,
           static_cast<const Unit*>(x.raw_data()), static_cast<Unit*>(y.raw_data()));
  });
}

void copy_blocks(Cuda device, const Blocks& blocks, const Tensor& x, Tensor& y) {
  if (blocks.count * blocks.size == 0) return;
  const int64_t width = size_of(x.dtype());
  const Blocks& b = blocks;
  const int64_t unit =
      common_unit(b.size * width, b.x_offset * width, b.x_stride * width, b.y_offset * width,
                  b.y_stride * width, address(x.raw_data()), address(y.raw_data()));
  const auto in_units = [&](int64_t elements) { return elements * width / unit; };
  const Blocks moved{b.count,
                     in_units(b.size),
                     in_units(b.x_offset),
                     in_units(b.x_stride),
                     in_units(b.y_offset),
                     in_units(b.y_stride)};
  dispatch_unit(unit, [&](auto type) {
    using Unit = decltype(type);
    launch(copy_blocks_kernel<Unit>, blocks_for(moved.count * moved.size), kThreads, 0,
           stream_of(device), moved, static_cast<const Unit*>(x.raw_data()),
           static_cast<Unit*>(y.raw_data()));
  });
}

}  // namespace farfield
