#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/heads.h"
#include "engine/schedule.h"
#include "layers/adapter_config.h"

namespace farfield {

/// The MLP between its products: GELU in its erf form or approximated by tanh, ReLU; or a gate,
/// silu(gate(x)) up(x).
enum class MlpActivation { gelu, gelu_tanh, relu, swiglu };

/// Layer norm, or RMS norm, which subtracts no mean and has no bias.
enum class NormKind { layer, rms };

/// How initial weights are drawn; the table is in layers/init.h.
enum class InitScheme { neox, fairseq };

/// Everything that decides the shape and the meaning of a model's weights.
struct ModelConfig {
  int64_t n_layer = 2;       ///< decoder blocks
  int64_t n_head = 4;        ///< attention heads of a block
  int64_t n_kv_head = 0;     ///< heads of keys and values, a divisor of n_head; 0: n_head
  int64_t d_model = 128;     ///< width of the residual stream, a multiple of n_head
  int64_t d_head = 0;        ///< components of a head; 0: d_model / n_head
  int64_t d_ff = 512;        ///< inner width of the MLP
  int64_t vocab_size = 320;  ///< rows of embedding and head, padding included (bytes: 257 to 320)
  int64_t train_len = 128;   ///< tokens per training sequence
  NormKind norm = NormKind::layer;
  double ln_eps = 1e-5;       ///< added to the variance, or to the mean of squares, in norms
  double init_std = 0.02;     ///< standard deviation of initial weights, of the neox scheme
  double hidden_dropout = 0;  ///< in training, share of the embedding and of each residual branch
  double attention_dropout = 0;   ///< in training, share of the probabilities of attention
  double activation_dropout = 0;  ///< in training, share of the MLP's inner layer
  std::string posenc = "none";    ///< positional encoding, an expression of posenc/expression.h
  MlpActivation activation = MlpActivation::gelu;
  bool has_norm_bias = true;   ///< of layer norms
  bool has_qkv_bias = true;    ///< of the projections before attention
  bool has_dense_bias = true;  ///< of the projection behind attention
  bool has_mlp_bias = true;
  bool is_parallel = false;         ///< attention and MLP of a block both read the stream before it
  bool has_embedding_norm = false;  ///< a norm between the embedding and the first block
  bool ties_embedding = false;      ///< the head's matrix is the embedding's
  bool has_final_norm = true;       ///< a norm between the last block and the head
  bool scales_embedding = false;    ///< token embeddings are multiplied by sqrt(d_model), unless
                                    ///< the encoding asks for a factor of its own
  InitScheme init = InitScheme::neox;
  /// The ids at which narrower bands of the vocabulary begin, rising; none: one embedding and one
  /// head. With some, input and softmax are adaptive and tied (layers/adaptive_softmax.h).
  std::vector<int64_t> cutoffs = {};
  int64_t band_divisor = 4;  ///< each band's width is the previous band's width divided by this
  double tail_dropout = 0;   ///< in training, share of the input of an adaptive softmax's tails

  /// An encoder: attention has no causal mask, so that each token sees later ones too. For tasks,
  /// for hidden tokens of a text and for what comes after a whole input; positions are absolute,
  /// rotary or none.
  bool sees_later = false;

  /// Frozen weights with low-rank adapters; empty: all weights are trained.
  std::optional<AdapterConfig> adapters = {};

  int64_t head_dim() const { return d_head > 0 ? d_head : d_model / n_head; }
  HeadCounts heads() const { return {n_head, n_kv_head > 0 ? n_kv_head : n_head}; }
  bool is_gated() const { return activation == MlpActivation::swiglu; }
  bool has_norm_biases() const { return norm == NormKind::layer && has_norm_bias; }
  bool is_adaptive() const { return !cutoffs.empty(); }
  int64_t n_band() const { return static_cast<int64_t>(cutoffs.size()) + 1; }
  /// Ids of a band, and their width; the one band of a model without cutoffs has all.
  int64_t band_size(int64_t band) const;
  int64_t band_width(int64_t band) const;
};

/// ConfigError "[model] expected ..., got ..." for a size that is not positive or too large to
/// count with, heads that do not divide, parts that do not go together, or a constant out of range.
void validate(const ModelConfig& config);

/// Number of trained parameters of the decoder, without the parameters of the positional encoding.
int64_t parameter_count(const ModelConfig& config);

enum class OptimizerKind { adamw, nag };

/// How a preset is trained unless told otherwise. The rates follow engine/schedule.h.
struct TrainDefaults {
  int64_t batch_size = 32;        ///< sequences of train_len tokens per update
  int64_t steps = 1500;           ///< updates, also the period of the schedule
  double peak_lr = 1e-3;          ///< largest learning rate
  double warmup_fraction = 0.02;  ///< share of steps spent warming up
  double max_grad_norm = 1;       ///< gradients are clipped to this global L2 norm; 0: never
  double weight_decay = 0;        ///< decoupled, for matrices only
  OptimizerKind optimizer = OptimizerKind::adamw;
  double momentum = 0.99;  ///< of nag
  Schedule::Form schedule = Schedule::Form::neox;
  double start_lr = 0;  ///< learning rate of the first update
  double end_lr = 0;    ///< learning rate at the end
};

struct Preset {
  std::string name;
  ModelConfig model;
  TrainDefaults train;
};
/// smoke, tiny, mini, small, the same sizes with the parts of Llama as llama-tiny and llama-small,
/// then the published models: neox-162m, neox-1.3b and baevski-247m.
const std::vector<Preset>& presets();
/// ConfigError with the nearest known name for an unknown one.
const Preset& find_preset(std::string_view name);
inline const ModelConfig& preset(std::string_view name) { return find_preset(name).model; }
inline const TrainDefaults& train_defaults(std::string_view name) {
  return find_preset(name).train;
}

}  // namespace farfield
