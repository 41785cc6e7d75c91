#include "apps/bench/weights_read.h"

namespace farfield::bench {

int64_t weight_bytes_read(const Transformer& model) {
  int64_t sum = 0;
  for (const Parameter& p : model.parameters()) {
    const bool is_table = !model.config().ties_embedding && p.name == "gpt_neox.embed_in.weight";
    sum += is_table ? p.value.size_bytes() / p.value.dim(0) : p.value.size_bytes();
  }
  return sum;
}

}  // namespace farfield::bench
