#include "apps/eval/batch_memory.h"

#include <algorithm>
#include <new>
#include <string_view>

#include "engine/base/error.h"
#include "engine/packed_copies.h"

namespace farfield::eval {

int64_t bytes_per_token(const ModelConfig& c, DType compute) {
  const HeadCounts heads = c.heads();
  const int64_t q = heads.n_head * c.head_dim(), qkv = heads.n_part() * c.head_dim();
  const int64_t attention = c.d_model + 2 * qkv + q + (c.sees_later ? qkv - q : 0);
  const int64_t mlp = c.d_model + (c.is_gated() ? 3 : 2) * c.d_ff;
  return size_of(compute) * (2 * c.d_model + std::max(attention, mlp));
}

bool has_room_for_copies(const ModelConfig& config, DType compute, int64_t available_bytes) {
  const int64_t n_weight = parameter_count(config);
  const int64_t rounded = compute == DType::bf16 ? n_weight * size_of(compute) : 0;
  // Gradients by inputs read each weight in another layout.
  const int64_t packed = std::min(2 * n_weight * size_of(compute), PackedCopies::kMostBytes);
  return available_bytes <= 0 || rounded + packed <= available_bytes / 4;
}

int64_t choose_batch_tokens(const ModelConfig& config, DType compute, int64_t available_bytes) {
  if (available_bytes <= 0) return kMostBatchTokens;
  return std::clamp<int64_t>(available_bytes / 2 / bytes_per_token(config, compute), 1,
                             kMostBatchTokens);
}

// A device says that its memory is out in a BackendError of its own.
bool is_out_of_memory(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         (dynamic_cast<const BackendError*>(&error) != nullptr &&
          std::string_view(error.what()).find("[memory]") != std::string_view::npos);
}

}  // namespace farfield::eval
