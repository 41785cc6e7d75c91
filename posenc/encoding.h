#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/attention_rule.h"
#include "engine/base/error.h"
#include "engine/device.h"
#include "engine/dtype.h"
#include "engine/parameter.h"
#include "engine/rotation.h"
#include "engine/tensor.h"

namespace farfield::posenc {

class HeadParameter;

/// Arguments of the rotation that a model is trained with, as far as its expression gives them.
struct TrainedRotation {
  std::optional<double> base = {}, rotary_pct = {};
  std::optional<std::string> layout = {};
};

/// Facts about the model that an encoding needs.
struct Config {
  int64_t n_head = 1;
  int64_t head_dim = 1;
  int64_t d_model = 1;
  int64_t n_layer = 1;
  int64_t train_len = 1;     ///< tokens; the base of defaults that depend on the training length
  uint64_t seed = 0;         ///< initial values are a pure function of it and of their names
  Device device = {};        ///< of tables and parameters
  DType dtype = DType::f32;  ///< of tables and parameters: f32, or f64 in gradient checks
  /// Names of the terms that the model is trained with; others were added for a test, and may have
  /// other defaults (the mode of log_n).
  std::vector<std::string> trained_with = {};
  /// Defaults of another rotation in a test.
  TrainedRotation trained_rotation = {};
};

/// Some encodings differ between training and testing (a window at test time only, random
/// positions).
enum class Phase { train, eval };

/// Which of the random draws a forward pass takes, for encodings that draw: a pure function of the
/// seed and of this, so a resumed run repeats it.
struct Draw {
  int64_t n_sequence = 1;  ///< sequences of the batch: some encodings draw for each
  uint64_t index = 0;      ///< number of the batch
  int64_t first = 0;       ///< of the sequences, in a batch that is computed in pieces
};

/// Where the queries and keys of one call are. The queries are the last n_query of the n_key
/// positions.
struct Positions {
  int64_t n_query = 0;
  int64_t n_key = 0;
  Phase phase = Phase::eval;
  Device device = {};
  Draw draw = {};
  /// [S], or [n_sequence, S] after a remap that draws for each sequence: the position of key n; n
  /// unless remapped.
  std::vector<double> ids = {};
  /// [L], the distance that entry t of a table stands for; t, and L = S, unless remapped.
  std::vector<double> distance = {};

  /// The entry of a table that a pair (m, n) reads.
  enum class Entry {
    distance,  ///< m - n
    ids,       ///< ids[m] - ids[n]; L is the largest of these and 1
    none,      ///< no entry fits: tables are refused
  };
  Entry entry = Entry::distance;

  /// Positions 0 .. n_key - 1. ShapeError unless 1 <= n_query <= n_key.
  static Positions plain(int64_t n_query, int64_t n_key, Phase phase, const Device& device = {},
                         const Draw& draw = {});

  /// Rows of ids: 1, or one for each sequence.
  int64_t n_row() const { return static_cast<int64_t>(ids.size()) / n_key; }
  /// The positions of the queries, row after row: [n_row() * T].
  std::vector<double> query_ids() const;
  /// Shape of query_ids(): [T], or [B, T] when each sequence has its own.
  Shape query_shape() const;
  /// A float64 tensor of `width` values for each of query_ids(): [T, width] or [B, T, width].
  Tensor query_table(const std::vector<double>& values, int64_t width) const;
  /// `distance` as a float64 tensor [L] on the device.
  Tensor distances() const;
};

/// A vector that is added to the token embedding.
struct Embedding {
  Tensor table = {};       ///< [T, D] or [B, T, D], or undefined
  double token_scale = 1;  ///< the token embedding is multiplied by it first
};

/// An encoding's rule for the attention op: see engine/ops/attention.h.
using ScoreRule = AttentionRule;

/// A length with positions that an encoding has no values for, such as those beyond a learned
/// table. Shorter inputs may still be asked for; any other ConfigError is of the request itself.
struct PositionError : ConfigError {
  using ConfigError::ConfigError;
};

/// The bias of one head by distance in closed form, 0 at distance 0 and falling.
struct Decay {
  std::function<double(double distance)> bias;   ///< in logits
  std::function<double(double depth)> distance;  ///< at which the bias is -depth: the inverse
};

/// A way of telling the model about positions. Each hook defaults to "leave as is"; an encoding
/// overrides those it needs. Hooks are pure functions of the positions and the parameters.
///
/// Tables (ScoreRule, Rotation, Embedding) are returned in float64; Composition rounds them to
/// Config::dtype once. Learned tables are made from parameters with differentiable ops, on
/// cast(parameter, DType::f64), so gradients flow.
class Encoding {
 public:
  virtual ~Encoding() = default;

  /// Classes P, P2: remaps positions or distances.
  virtual Positions positions(const Positions& p) const { return p; }
  /// Whether positions() depends on the draw.
  virtual bool is_random(Phase) const { return false; }
  /// Class I: added once to the token embedding.
  virtual Embedding embed(const Positions&) const { return {}; }
  /// Classes R, P2: tables for the last n_query positions, applied to q and k; for P2 a second set
  /// for far pairs.
  virtual Rotation rotate(const Positions&) const { return {}; }
  /// Classes T-b, T-w, T-bw, B, M, N, P2: bias and weight [H, L], row-dependent bias, window,
  /// sinks, normaliser, switching distance.
  virtual ScoreRule score(const Positions&) const { return {}; }
  /// Class S: a factor on each query's scaled dot products, [T], or undefined. Called when the rule
  /// of the layer is otherwise complete: it says which keys a query sees.
  virtual Tensor row_scale(const Positions&, const ScoreRule& /*layer*/) const { return {}; }

  /// The tensors for a checkpoint, under full names ("kerple_log.r1"): trained tensors, and frozen
  /// tensors that seed and expression do not determine exactly; empty for a fixed encoding.
  virtual std::vector<Parameter> parameters() const { return {}; }
  /// Of a head counted from 0, where score() has a closed form with an inverse.
  virtual std::optional<Decay> decay(size_t /*head*/) const { return {}; }
  /// The learned parameters() of one number per head, to read or set their meaning:
  /// constraint=softplus stores another number.
  virtual std::vector<HeadParameter*> head_parameters() { return {}; }
};

}  // namespace farfield::posenc
