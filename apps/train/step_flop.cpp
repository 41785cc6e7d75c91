#include "apps/train/step_flop.h"

namespace farfield::train {

double step_gflop(const ModelConfig& c, int64_t batch_size) {
  const auto n_token = static_cast<double>(batch_size) * static_cast<double>(c.train_len);
  const auto d_model = static_cast<double>(c.d_model);
  const double weights = static_cast<double>(parameter_count(c)) -
                         (c.is_adaptive() ? 0 : static_cast<double>(c.vocab_size) * d_model);
  const double pairs = static_cast<double>(c.train_len) * (c.sees_later ? 2 : 1);
  return 1e-9 * 6 * n_token * (weights + static_cast<double>(c.n_layer) * pairs * d_model);
}

}  // namespace farfield::train
