#pragma once

#include <span>

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// y[i0, i1, ...] = x with its dimensions reordered: dimension i of y is dimension order[i] of x.
void permute(Cpu, const Tensor& x, std::span<const int> order, Tensor& y);
void permute(Cuda, const Tensor& x, std::span<const int> order, Tensor& y);

/// `count` runs of `size` elements each: run i starts at element x_offset + i x_stride of x and at
/// y_offset + i y_stride of y.
struct Blocks {
  int64_t count, size;
  int64_t x_offset, x_stride;
  int64_t y_offset, y_stride;
};
void copy_blocks(Cpu, const Blocks& blocks, const Tensor& x, Tensor& y);
void copy_blocks(Cuda, const Blocks& blocks, const Tensor& x, Tensor& y);

}  // namespace farfield
