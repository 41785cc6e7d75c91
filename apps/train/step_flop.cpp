#include "apps/train/step_flop.h"

namespace farfield::train {
namespace {

// Multiplications for each token of a sequence in a forward pass.
double multiplications(const ModelConfig& c, int64_t length) {
  const auto d_model = static_cast<double>(c.d_model);
  const auto d_heads = static_cast<double>(c.n_head * c.head_dim());
  // An embedding is looked up; one that is the head's matrix too is multiplied there.
  const bool has_own_embedding = !c.is_adaptive() && !c.ties_embedding;
  const double weights = static_cast<double>(parameter_count(c)) -
                         (has_own_embedding ? static_cast<double>(c.vocab_size) * d_model : 0);
  const double pairs = static_cast<double>(length) * (c.sees_later ? 2 : 1);
  return weights + static_cast<double>(c.n_layer) * pairs * d_heads;
}

}  // namespace

double step_gflop(const ModelConfig& c, int64_t batch_size) {
  const auto n_token = static_cast<double>(batch_size) * static_cast<double>(c.train_len);
  return 1e-9 * 6 * n_token * multiplications(c, c.train_len);
}

double forward_gflop(const ModelConfig& c, int64_t batch_size, int64_t length) {
  const auto n_token = static_cast<double>(batch_size) * static_cast<double>(length);
  return 1e-9 * 2 * n_token * multiplications(c, length);
}

}  // namespace farfield::train
