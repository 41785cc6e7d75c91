#include "apps/batch_memory.h"

#include <algorithm>

namespace farfield::apps {

int64_t bytes_per_token(const ModelConfig& c, DType compute) {
  return size_of(compute) * (2 * c.d_model + std::max(8 * c.d_model, c.d_model + 2 * c.d_ff));
}

int64_t choose_batch_tokens(const ModelConfig& config, DType compute, int64_t available_bytes) {
  if (available_bytes <= 0) return kMostBatchTokens;
  return std::clamp<int64_t>(available_bytes / 2 / bytes_per_token(config, compute), 1,
                             kMostBatchTokens);
}

}  // namespace farfield::apps
