#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/device.h"
#include "engine/dtype.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/index.h"
#include "engine/parameter.h"
#include "engine/tensor.h"

namespace farfield::posenc {

/// What an encoding must know of the model it is part of.
struct Config {
  int64_t n_head = 1;
  int64_t head_dim = 1;
  int64_t d_model = 1;
  int64_t n_layer = 1;
  int64_t train_len = 1;     ///< tokens; the base of defaults that depend on the training length
  uint64_t seed = 0;         ///< initial values are a pure function of it and of their names
  Device device = {};        ///< of tables and parameters
  DType dtype = DType::f32;  ///< of tables and parameters: f32, or f64 in gradient checks
};

/// Some encodings differ between training and testing (a window at test time only, random
/// positions).
enum class Phase { train, eval };

/// Where the queries and keys of one call are. The queries are the last n_query of the n_key
/// positions.
struct Positions {
  int64_t n_query = 0;
  int64_t n_key = 0;
  Phase phase = Phase::eval;
  Device device = {};
  std::vector<double> ids = {};       ///< [S], the position of key n; n unless remapped
  std::vector<double> distance = {};  ///< [S], the distance that table entry t stands for; t unless
                                      ///< remapped

  /// Positions 0 .. n_key - 1. ShapeError unless 1 <= n_query <= n_key.
  static Positions plain(int64_t n_query, int64_t n_key, Phase phase, const Device& device = {});

  std::span<const double> query_ids() const {  ///< [T]
    return std::span(ids).last(static_cast<size_t>(n_query));
  }
  /// `distance` as a float64 tensor [S] on the device.
  Tensor distances() const;
};

/// What is added to the token embedding.
struct Embedding {
  Tensor table = {};       ///< [T, D], or undefined
  double token_scale = 1;  ///< the token embedding is multiplied by it first
};

/// What an encoding asks of the attention op: see engine/ops/attention.h.
using ScoreRule = AttentionRule;

/// A way of telling the model about positions. Each hook defaults to "leave as is"; an encoding
/// overrides those it needs. Hooks are pure functions of the positions and the parameters.
///
/// Tables (ScoreRule, Rotation, Embedding) are returned in float64; Composition rounds them to
/// Config::dtype once. Learned tables are made from parameters with differentiable ops, on
/// cast(parameter, DType::f64), so gradients flow.
class Encoding {
 public:
  virtual ~Encoding() = default;

  /// Class P: remaps positions or distances.
  virtual Positions positions(const Positions& p) const { return p; }
  /// Class I: added once to the token embedding.
  virtual Embedding embed(const Positions&) const { return {}; }
  /// Classes R, P2: tables for the last n_query positions, applied to q and k.
  virtual Rotation rotate(const Positions&) const { return {}; }
  /// Classes T-b, T-w, T-bw, M, S: bias and weight [H, S], row scale [T], window, sinks.
  virtual ScoreRule score(const Positions&) const { return {}; }

  /// What training changes, under full names ("kerple_log.r1"); empty for a fixed encoding.
  virtual std::vector<Parameter> parameters() const { return {}; }
  /// Puts parameters back into their bounds; called after each optimizer step.
  virtual void project() {}
};

}  // namespace farfield::posenc
