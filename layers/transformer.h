#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ops/cross_entropy.h"
#include "layers/adaptive_softmax.h"
#include "layers/block.h"
#include "layers/cache.h"
#include "layers/config.h"
#include "layers/dropout_streams.h"
#include "layers/embedding.h"
#include "layers/input_scalar.h"
#include "layers/linear.h"
#include "layers/norm.h"
#include "posenc/composition.h"

namespace farfield {

/// The place of a pass's sequences in their batch, for micro-batches.
struct BatchPiece {
  int64_t first = 0;    ///< number of the first
  int64_t n_batch = 0;  ///< sequences of the whole batch; 0: the pass has the whole batch
  /// The loss is of some places alone: their rows in [B T], int32 [n], and their targets [n]. The
  /// loss is then the sum over them divided by `scored_per_piece`, the mean number of such places
  /// in a micro-batch. Undefined: of all places.
  Tensor scored = {}, scored_targets = {};
  double scored_per_piece = 0;
  /// Random streams of the pass's draw, for a recorded pass that is replayed with other draws; or
  /// null. Not for adaptive input and softmax.
  const DropoutStreams* streams = nullptr;
};

/// The decoder of the GPT-NeoX code base: sequential pre-norm blocks, GELU in its erf form, biases
/// everywhere but in the head, which has its own matrix. ModelConfig can change parts of it, so
/// that it is the decoder of Llama, BLOOM, MPT or GPT-2, and make an encoder of it (sees_later). Of
/// an encoder, losses of several next tokens and caches are refused: ConfigError.
///
/// Parameters are float32 whatever the compute dtype (float64 when that is float64); bfloat16
/// rounds activations and, on their way into a product, weights. Names and layouts follow Hugging
/// Face's GPT-NeoX, so weights move both ways.
class Transformer {
 public:
  /// Initial weights are a pure function of (seed, name of the parameter, its shape).
  ///
  /// The processes of a group share the model (tensor parallelism): each has a part of the heads,
  /// of the inner layer of the MLPs and of the vocabulary, and all small tensors: norms, biases of
  /// summed products, parameters of the encoding. All make the same calls with the same arguments;
  /// the results equal one process's to rounding, with the same bits in all. Losses work so;
  /// functions that need the scores of the whole vocabulary or a cache throw ConfigError: logits,
  /// generation, input_gradient().
  ///
  /// Throws    ConfigError for a config that validate() or the positional encoding refuses, for a
  ///           compute dtype that is not floating, and for a group whose size does not divide the
  ///           heads, or with adaptive input and softmax
  /// Source    Shoeybi et al. 2019, "Megatron-LM", arXiv:1909.08053, section 3
  Transformer(const ModelConfig& config, uint64_t seed, DType compute = DType::f32,
              const Device& device = {}, const Group& tensor = {})
      : Transformer(config, seed, compute, device, tensor, /*draws_weights=*/true) {}
  /// A model whose weights are to be loaded (load_parameters()) before anything else: drawing them
  /// would take longer than reading them. The encoding's parameters have their initial values.
  static Transformer to_load(const ModelConfig& config, uint64_t seed, DType compute,
                             const Device& device) {
    return {config, seed, compute, device, {}, /*draws_weights=*/false};
  }

  // `draw` is the number of the batch, for random positions of some encodings and for dropout: a
  // result is a pure function of the draw and of the seed.

  /// Mean negative log likelihood, in nats per token, of targets[b, t] after ids[b, 0 .. t], as in
  /// training: the only function with dropout. A micro-batch has the positions and masks that its
  /// sequences have in the whole batch; its loss is the mean over its own tokens.
  /// Shapes    ids, targets int32 [B, T] -> scalar in float32 (float64 when computing in it)
  Tensor loss(const Tensor& ids, const Tensor& targets, uint64_t draw = 0,
              const BatchPiece& piece = {}) const;
  /// The same for each token: [B, T]. Not differentiable; keeps no activations.
  Tensor nll(const Tensor& ids, const Tensor& targets, uint64_t draw = 0) const;
  /// The last n columns of that alone: ids int32 [B, T], targets int32 [B, n], 1 <= n <= T -> [B,
  /// n]. The last block and the head work on the last n positions alone, so this costs less than
  /// nll(); its values agree with nll()'s to rounding.
  Tensor tail_nll(const Tensor& ids, const Tensor& targets, uint64_t draw = 0) const;
  /// Negative log likelihood of targets[b] after all of ids[b, :], int32 [B, T] and [B] -> [B]:
  /// tail_nll() with n = 1.
  Tensor last_nll(const Tensor& ids, const Tensor& targets, uint64_t draw = 0) const;
  /// Negative log likelihood of targets at some places alone, int32 [n], rows of [B T]: for
  /// encoders, whose targets are hidden in the input. Not differentiable; keeps no activations.
  /// Shapes    ids int32 [B, T], places and targets int32 [n] -> [n]
  Tensor nll_at(const Tensor& ids, const Tensor& places, const Tensor& targets,
                uint64_t draw = 0) const;
  /// Gradient of a number of the distribution after all of ids[b, :] by the embedding vector of
  /// each of its tokens, before a position is added or a scale multiplied: how much each input
  /// matters for the next token. Runs in the phase of evaluation. No parameter gets a gradient, nor
  /// requires one while this runs. Blocks are recomputed in the backward pass, so memory grows
  /// linearly with T. A gradient that is not finite is returned as it is.
  ///
  /// Shapes    ids int32 [B, T], targets int32 [B] -> [B, T, D] in the compute dtype
  /// Source    Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of
  ///           Receptive Field Analysis", arXiv:2212.10356, section 5.1
  Tensor input_gradient(const Tensor& ids, const Tensor& targets,
                        InputScalar what = InputScalar::nll, uint64_t draw = 0) const;
  /// How much each query attends to groups of tokens: for each layer, the sum of the weights of its
  /// keys that are in a group, [B, T, H, K] for K = head_dim groups. Not differentiable.
  ///
  /// Shapes    ids int32 [B, T]; group_of, B * T numbers: the group of each token, 0 ... K - 1, or
  ///           -1 for none
  std::vector<Tensor> attention_to(const Tensor& ids, const std::vector<int32_t>& group_of,
                                   uint64_t draw = 0) const;
  /// Scores before the softmax, [B, T, V]: for tests and short texts. Scores of an adaptive softmax
  /// are the logs of probabilities, here and below.
  Tensor logits(const Tensor& ids) const;
  /// The scores after the whole of each row alone, unrounded, as next_logits(): [B, T] -> [B, V].
  /// Not differentiable.
  Tensor last_logits(const Tensor& ids, uint64_t draw = 0) const;

  /// A cache of what later tokens need of earlier ones. Arguments and errors as in KeyValueCache.
  KeyValueCache make_cache(int64_t n_sequence, int64_t seq_len, int64_t n_cached = 0,
                           uint64_t draw = 0) const;
  /// The reason why make_cache() refuses this length and limit; "" if it accepts them.
  std::string cache_obstacle(int64_t seq_len, int64_t n_cached = 0) const;
  /// Feeds the next n tokens of each sequence to the cache: ids int32 [B, n] -> the head's input
  /// for the last n_row of them, [B, n_row, D]. Tokens may come one by one or many at a time: the
  /// result agrees, to rounding, with one pass over the whole sequence. Not differentiable.
  /// Throws    ShapeError for ids of another number of sequences, more tokens than the cache is
  ///           planned for, n_row outside 1 .. n, or a cache that an earlier failure cut short
  Tensor extend(const Tensor& ids, KeyValueCache& cache, int64_t n_row = 1) const;
  /// The scores of the token after each row of what extend() returned, [..., D] -> [..., V], in the
  /// type of the parameters whatever the compute dtype.
  Tensor next_logits(const Tensor& hidden) const;
  /// Negative log likelihood of the token after each row: [B, n, D], targets int32 [B, n] -> [B, n]
  Tensor next_nll(const Tensor& hidden, const Tensor& targets) const;

  /// Every tensor of the model without its adapters, or this process's part of it, sharing storage
  /// with the model, under its GPT-NeoX name; tensors of the encoding under
  /// posenc::checkpoint_name().
  std::vector<Parameter> parameters() const;
  /// The parameters that training changes: parameters(), or with ModelConfig::adapters the
  /// parameters of the adapters, and of parameters() the kinds that the config names.
  std::vector<Parameter> trained_parameters() const;
  /// Magnitudes of new adapters that change nothing, for the weights of now.
  void start_magnitudes();
  /// Keeps frozen weights of the blocks in bfloat16 alone, for a model that computes in it: half
  /// the memory, and the same results, since a product rounds them in any case; magnitudes of
  /// adapters see the rounded rows. ConfigError for another compute dtype.
  void hold_frozen_in_bf16();
  /// Keeps weights as products read them beside the parameters, for a model that makes many passes
  /// without a change of weights: rounded if it computes in bfloat16 (Tensor::keep_rounded()), and
  /// on the CPU packed (Tensor::keep_packed()). The results stay the same.
  void keep_weight_copies() const;
  /// Moves the matrices into one block of memory, to generate from (weight_block.h). A model that
  /// computes in bfloat16 holds them in bfloat16 alone, the head too: its scores are of rounded
  /// weights then. The model cannot be trained afterwards. An adaptive input or softmax stays as it
  /// is.
  void pack_weights();
  /// Puts the encoding's parameters back into their bounds; to be called after each update.
  void project() { encoding_.project(); }

  const ModelConfig& config() const { return config_; }
  DType compute_dtype() const { return compute_; }
  /// The processes that share the model.
  const Group& tensor_group() const { return tensor_; }
  /// Whether a pass reads its tokens on the host, which waits for the device, and splits them: its
  /// work for the device then changes from batch to batch.
  bool reads_tokens() const { return config_.is_adaptive(); }
  /// Whether loss() has dropout of any kind.
  bool has_dropout() const;
  posenc::Composition& encoding() { return encoding_; }
  const posenc::Composition& encoding() const { return encoding_; }

  /// Whether loss() keeps only the input of each block and computes the block again in backward():
  /// a third more time for a fraction of the activation memory, and the same bits.
  void set_checkpointing(bool on) { checkpointing_ = on; }
  bool checkpointing() const { return checkpointing_; }
  /// The type of the logits in loss() (linear_cross_entropy()); by default the type of the
  /// parameters. Evaluation never rounds logits. ConfigError for an adaptive softmax, and for any
  /// type but the parameters' and bfloat16. bfloat16 needs a model that computes in bfloat16 and
  /// lies in one process.
  void set_logits(DType logits);

 private:
  Transformer(const ModelConfig& config, uint64_t seed, DType compute, const Device& device,
              const Group& tensor, bool draws_weights);
  void add_adapters(const Initializer& init, const AdapterConfig& adapters);
  /// The loss of BatchPiece::scored, of the head's inputs [B T, D].
  Tensor scored_loss(const Tensor& x, const BatchPiece& piece) const;
  posenc::Composition::Plan plan(const Tensor& ids, posenc::Phase phase, uint64_t draw,
                                 int64_t first = 0) const;
  /// ConfigError for an encoder.
  void require_causal(std::string_view what) const;
  /// ConfigError unless one process has all of the model.
  void require_whole(std::string_view what) const;
  /// The rows of the head in this process.
  VocabularyPart vocabulary() const;
  /// Token embeddings: ids [B, T] -> [B, T, D].
  Tensor embed(const Tensor& ids) const;
  /// The residual stream [B, T, D] from token embeddings of positions first .. first + T - 1.
  Residual enter(const Tensor& embedded, const posenc::Composition::Plan& plan,
                 int64_t first) const;
  /// The head's input from the stream after the last block.
  Tensor leave(Residual stream) const;
  /// The head's input for the last n_row positions, [B, n_row, D], from token embeddings [B, T, D].
  /// `checkpointed` as in set_checkpointing(); dropout needs all positions.
  Tensor hidden(const Tensor& embedded, const posenc::Composition::Plan& plan, int64_t n_row,
                bool checkpointed, LayerDropout drop = {}) const;

  ModelConfig config_;
  uint64_t seed_;
  DType compute_;
  Group tensor_;
  bool checkpointing_ = false;
  std::optional<DType> logits_;
  posenc::Composition encoding_;
  Embedding embed_in_;  // and embed_out_: unless input and softmax are adaptive
  std::vector<Block> blocks_;
  Norm embedding_norm_;  // if the config has one
  Norm final_norm_;      // unless the config has none
  Linear embed_out_;
  AdaptiveInput adaptive_in_;
  AdaptiveSoftmax adaptive_out_;
};

/// The tensor of stored weights that gives a model's vocabulary size: its number of rows plus
/// n_before.
struct VocabularyTensor {
  std::string name;
  int64_t n_before = 0;
};
VocabularyTensor vocabulary_tensor(const ModelConfig& config);

}  // namespace farfield
