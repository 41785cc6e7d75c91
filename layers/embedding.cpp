#include "layers/embedding.h"

#include "engine/ops/embedding.h"

namespace farfield {

Embedding Embedding::make(const Initializer& init, const std::string& name, int64_t vocab_size,
                          int64_t d_model, double std) {
  return {.weight = init.normal(name + ".weight", {vocab_size, d_model}, std)};
}

Tensor Embedding::operator()(const Tensor& ids, DType dtype) const {
  return embedding(weight, ids, dtype);
}

void Embedding::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".weight", .value = weight, .decay = true});
}

}  // namespace farfield
