#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/segment_load.h"
#include "layers/config.h"

namespace farfield::bench {

/// What the data sheet of a card says.
struct CardSheet {
  std::string name;
  double n_sm = 0;              ///< multiprocessors
  double clock_hz = 0;          ///< at which the peak is given
  double bf16_flop_per_s = 0;   ///< of tensor cores, dense, summed in float32
  double bytes_per_s = 0;       ///< of its memory
  double fp32_lanes = 0;        ///< of a multiprocessor
  double shared_bytes = 0;      ///< shared memory that a block may have
  bool has_warpgroups = false;  ///< whether attention takes its kernels by warpgroups there

  /// Instructions of a thread: four warps of each multiprocessor issue one in a cycle.
  double issue_per_s() const { return n_sm * 4 * 32 * clock_hz; }
  double fp32_per_s() const { return n_sm * fp32_lanes * clock_hz; }
  /// Accesses of shared memory, of 128 bytes: one of each multiprocessor in a cycle.
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
  double fp32 = 0;          ///< of these, those of float32 lanes
  double shared = 0;        ///< accesses of shared memory, of 128 bytes; counted of attention alone
};

/// What a part takes, by what alone would take so long; the longest holds.
struct PartTime {
  double memory_s = 0, tensor_s = 0, issue_s = 0, fp32_s = 0, shared_s = 0;
  double total() const;
  /// "memory", "tensor", "issue", "fp32" or "shared".
  std::string bound() const;
};
PartTime time_of(const StepPart& part, const CardSheet& card, double efficiency);

/// What a positional encoding has attention do in a step.
struct AttentionLoad {
  /// Pairs of a query and a key that are computed, of all sequences, heads and layers together
  /// (tile_pairs()).
  double score_pairs = 0;
  /// Layers whose q and k are turned, by a rotation without far copies.
  double n_turned_layer = 0;
  /// Of score_pairs, those of layers that learn a bias by distance and have no weight, and those of
  /// layers with a weight, which is taken to be learned and to be beside a bias.
  double pairs_of_bias = 0, pairs_of_weight = 0;
  /// Those of layers with a row bias, and what these meet of its segments.
  double pairs_of_row_bias = 0;
  SegmentLoad segments = {};
};

/// The parts of one training step in bfloat16 on a card, of one process and a batch that is not
/// accumulated. rounds_logits: `train --logits bf16`.
std::vector<StepPart> step_parts(const ModelConfig& config, int64_t batch_size,
                                 const AttentionLoad& load, const CardSheet& card,
                                 bool rounds_logits = false);

/// Pairs in the tiles of 64 queries and 64 keys that hold a visible one: of one head of one
/// sequence of n tokens, causal, with a window (0: none) and sinks.
double tile_pairs(int64_t n, int64_t window, int64_t sinks);

}  // namespace farfield::bench
