#include "apps/train/training_memory.h"

#include <algorithm>
#include <cmath>

#include "apps/train/own_pieces.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/packed_copies.h"

namespace farfield::train {
namespace {

std::string gib(double bytes) { return fixed(bytes / (1 << 30), 1) + " GiB"; }

// Of low-rank adapters, and of other trained tensors.
double n_adapter_weight(const AdapterConfig& adapters, const ModelConfig& c) {
  const auto d = static_cast<double>(c.d_model), ff = static_cast<double>(c.d_ff),
             vocab = static_cast<double>(c.vocab_size);
  const auto q = static_cast<double>(c.n_head * c.head_dim()),
             kv = static_cast<double>(c.heads().n_kv_head * c.head_dim());
  double of_layer = 0, outside = 0;
  for (const std::string& target : adapters.targets)
    (target == "head" ? outside : of_layer) +=
        target == "head"                                         ? d + vocab
        : target == "up" || target == "down" || target == "gate" ? d + ff
        : target == "q" || target == "dense"                     ? d + q
                                                                 : d + kv;
  double sum =
      static_cast<double>(adapters.rank) * (static_cast<double>(c.n_layer) * of_layer + outside);
  if (adapters.trains("embedding")) sum += d * vocab;
  if (adapters.trains("head")) sum += d * vocab;
  return sum;
}

}  // namespace

double training_bytes(const ModelConfig& c, const StepShape& shape, DType compute) {
  const auto d = static_cast<double>(c.d_model), ff = static_cast<double>(c.d_ff),
             n_layer = static_cast<double>(c.n_layer);
  const OwnPieces pieces = OwnPieces::of(shape, 0, 1);
  const auto n_at_once = static_cast<double>(pieces.at_once(shape));
  const double piece = n_at_once * static_cast<double>(shape.batch_size) /
                       static_cast<double>(shape.n_piece()) * static_cast<double>(c.train_len);
  // A block keeps two sums of the residual stream and the norms of both, queries, keys, values,
  // what attention makes of them, and the inner layer of the MLP before and after its activation,
  // and its gate. An encoder takes keys and values twice.
  const HeadCounts heads = c.heads();
  const auto q = static_cast<double>(heads.n_head * c.head_dim()),
             kv = static_cast<double>(2 * heads.n_kv_head * c.head_dim());
  const double block = 4 * d + 2 * q + (c.sees_later ? 2 : 1) * kv + (c.is_gated() ? 3 : 2) * ff;
  const double kept = shape.checkpointing ? n_layer * 2 * d + block : n_layer * block;
  const double passing = 3 * d + 2 * ff;  // gradients on their way, of one block at a time
  // In float32: weights, gradients, two moments; of pieces their gradients, and sums of earlier
  // ones. Weights once more as products read them.
  const double kinds =
      4 + (n_at_once > 1 ? n_at_once : 0) +
      (shape.deterministic_reduce ? std::ceil(std::log2(static_cast<double>(shape.n_piece()))) : 0);
  const double rounded = compute == DType::bf16 ? 2 : 0;
  const auto n_weight = static_cast<double>(parameter_count(c));
  // With several micro-batches products keep weights packed, for y and for dx (keep_packed()).
  const double packed = pieces.n > 1
                            ? std::min(2.0 * n_weight * static_cast<double>(size_of(compute)),
                                       static_cast<double>(PackedCopies::kMostBytes))
                            : 0;
  // Frozen weights are there once, and rounded for products.
  const double weights =
      c.adapters ? 4.0 * kinds * n_adapter_weight(*c.adapters, c) + (4.0 + rounded) * n_weight
                 : (4.0 * kinds + rounded) * n_weight;
  return weights + packed + piece * (kept + passing) * static_cast<double>(size_of(compute));
}

std::string memory_warning(const run::ResolvedConfig& config, int64_t vocab_size,
                           int64_t available_bytes) {
  ModelConfig model = config.model_of(vocab_size);
  model.train_len = config.longest();
  // A checkpoint is written from a copy of weights and moments, in host memory.
  const bool has_copy = config.saves_beside && config.device.kind == Device::Kind::cpu;
  const double copy = has_copy ? 3.0 * 4.0 * static_cast<double>(parameter_count(model)) : 0;
  const double needed = training_bytes(model, shape_of(config), config.dtype) + copy;
  if (available_bytes <= 0 || needed <= static_cast<double>(available_bytes)) return "";
  std::vector<std::string> ways;
  const auto offer = [&](const std::string& way, bool is_open) {
    if (is_open) ways.push_back(way);
  };
  offer(config.lengths.empty() ? "a shorter --train-len" : "shorter --lengths",
        config.longest() > 1);
  offer("a smaller --batch", config.batch > 1);
  offer("--accumulate, which computes a batch in pieces",
        shape_of(config).n_piece() < config.batch);
  offer("--checkpoint-activations", !config.checkpoint_activations);
  offer("--precision bf16", config.dtype != DType::bf16);
  offer("--async-save off", has_copy);
  return concat("a training step of ", config.batch, " x ", config.longest(),
                " tokens takes about ", gib(needed), " of memory, and ",
                gib(static_cast<double>(available_bytes)),
                " are available; the system may end this process. Less take: ", joined(ways));
}

}  // namespace farfield::train
