#include "layers/weight_block.h"

#include "engine/storage.h"

namespace farfield {
namespace {

constexpr int64_t kElements = 64;  // each tensor begins at a multiple, aligned as a Storage is

}  // namespace

WeightBlock::WeightBlock(int64_t numel, int64_t n_weight, DType dtype, const Device& device)
    : block_(Tensor::empty({numel + n_weight * kElements}, dtype, device)) {}

void WeightBlock::take(Tensor& weight) {
  Tensor place = block_.view(weight.shape(), used_);
  place.assign(weight);
  used_ += (weight.numel() + kElements - 1) / kElements * kElements;
  weight = place;
  release_cached_memory(block_.device());  // otherwise all weights would be there twice
}

}  // namespace farfield
