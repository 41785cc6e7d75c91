#include "apps/bench/weights_read.h"

namespace farfield::bench {

int64_t weight_bytes_read(const Transformer& model) {
  int64_t sum = 0;
  for (const Parameter& p : model.parameters()) {
    const bool is_table = !model.config().ties_embedding && p.name == "gpt_neox.embed_in.weight";
    const Tensor read = p.value.has_rounded() ? p.value.to(DType::bf16) : p.value;
    sum += is_table ? read.size_bytes() / read.dim(0) : read.size_bytes();
  }
  return sum;
}

}  // namespace farfield::bench
