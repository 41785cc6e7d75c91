#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/segment_load.h"
#include "layers/config.h"

namespace farfield::bench {

/// The data sheet of a card.
struct CardSheet {
  std::string name;
  double n_sm = 0;              ///< multiprocessors
  double clock_hz = 0;          ///< clock for the peak rate
  double bf16_flop_per_s = 0;   ///< of tensor cores, dense, summed in float32
  double bytes_per_s = 0;       ///< of its memory
  double fp32_lanes = 0;        ///< of a multiprocessor
  double shared_bytes = 0;      ///< shared memory that a block may have
  bool has_warpgroups = false;  ///< whether attention uses its kernels by warpgroups

  /// Rate of thread instructions: four warps of each multiprocessor issue one in a cycle.
  double issue_per_s() const { return n_sm * 4 * 32 * clock_hz; }
  double fp32_per_s() const { return n_sm * fp32_lanes * clock_hz; }
  /// Rate of shared memory accesses of 128 bytes: one of each multiprocessor in a cycle.
  double shared_per_s() const { return n_sm * clock_hz; }
};
/// H100, H200, A100, RTX4090.
const std::vector<CardSheet>& card_sheets();
/// ConfigError with the nearest known name for an unknown one.
const CardSheet& card_sheet(std::string_view name);

/// A part of a training step, which may be several kernels of one kind.
struct StepPart {
  std::string name;
  double bytes = 0;         ///< moved between memory and chip
  double tensor_flop = 0;   ///< of tensor cores
  double instructions = 0;  ///< of threads
  double fp32 = 0;          ///< instructions of float32 lanes among them
  double shared = 0;        ///< accesses of shared memory, of 128 bytes; counted in attention only
};

/// The time of a part by each limit alone; the longest time holds.
struct PartTime {
  double memory_s = 0, tensor_s = 0, issue_s = 0, fp32_s = 0, shared_s = 0;
  double total() const;
  /// "memory", "tensor", "issue", "fp32" or "shared".
  std::string bound() const;
};
PartTime time_of(const StepPart& part, const CardSheet& card, double efficiency);

/// The work of attention in a step under a positional encoding.
struct AttentionLoad {
  /// Pairs of a query and a key that are computed, of all sequences, heads and layers together
  /// (tile_pairs()).
  double score_pairs = 0;
  /// Layers whose q and k are turned, by a rotation without far copies.
  double n_turned_layer = 0;
  /// Shares of score_pairs: pairs of layers that learn a bias by distance and have no weight, and
  /// pairs of layers with a weight. A weight counts as learned, with a bias beside it.
  double pairs_of_bias = 0, pairs_of_weight = 0;
  /// Pairs of layers with a row bias, and the segments that they meet.
  double pairs_of_row_bias = 0;
  SegmentLoad segments = {};
};

/// The parts of one training step in bfloat16 on a card, with one process and without gradient
/// accumulation. rounds_logits: `train --logits bf16`.
std::vector<StepPart> step_parts(const ModelConfig& config, int64_t batch_size,
                                 const AttentionLoad& load, const CardSheet& card,
                                 bool rounds_logits = false);

/// Pairs in all tiles of 64 queries and 64 keys that hold a visible pair: of one head of one
/// sequence of n tokens, causal, with a window (0: none) and sinks.
double tile_pairs(int64_t n, int64_t window, int64_t sinks);

}  // namespace farfield::bench
