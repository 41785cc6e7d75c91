#include "layers/embedding.h"

#include "engine/ops/embedding.h"
#include "engine/ops/group_sum.h"

namespace farfield {

Embedding Embedding::make(const Initializer& init, const std::string& name, int64_t vocab_size,
                          int64_t d_model, double std) {
  const Shard shard = init.shard_of(0, vocab_size);
  return {.weight = init.normal(name + ".weight", {vocab_size, d_model}, std, shard),
          .shard = shard,
          .group = init.tensor};
}

Tensor Embedding::operator()(const Tensor& ids, DType dtype) const {
  if (shard.is_whole()) return embedding(weight, ids, dtype);
  return group_sum(embedding_part(weight, ids, dtype, shard.begin, shard.n_whole), group);
}

void Embedding::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".weight", .value = weight, .decay = true, .shard = shard});
}

}  // namespace farfield
