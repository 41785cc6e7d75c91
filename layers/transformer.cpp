#include "layers/transformer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/autograd.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/embedding.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/view.h"
#include "engine/step_graph.h"
#include "layers/encoder.h"
#include "layers/own_heads.h"
#include "layers/weight_block.h"

namespace farfield {
namespace {

DType parameter_dtype(DType compute) { return compute == DType::f64 ? DType::f64 : DType::f32; }

posenc::Config encoding_config(const ModelConfig& config, uint64_t seed, DType compute,
                               const Device& device) {
  validate(config);
  require<ConfigError>(is_float(compute), "model", "expected a floating compute dtype, got ",
                       compute);
  return {.n_head = config.n_head,
          .head_dim = config.head_dim(),
          .d_model = config.d_model,
          .n_layer = config.n_layer,
          .train_len = config.train_len,
          .seed = seed,
          .device = device,
          .dtype = parameter_dtype(compute)};
}

void check_ids(const Tensor& ids) {
  require<ShapeError>(ids.rank() == 2 && ids.numel() > 0, "model",
                      "expected ids of shape [batch_size, seq_len], got ", ids.shape());
}

void check_targets(const Tensor& targets, const Shape& expected) {
  require<ShapeError>(targets.shape() == expected, "model", "expected targets of shape ", expected,
                      ", got ", targets.shape());
}

void check_group(const ModelConfig& config, const Group& tensor) {
  if (tensor.is_alone()) return;
  const int64_t n = tensor.size();
  require<ConfigError>(!config.is_adaptive(), "model",
                       "expected one process for a model with cutoffs, whose adaptive input and "
                       "softmax cannot be shared, got ",
                       n);
  const auto check = [n](bool fits, const char* what, int64_t size) {
    require<ConfigError>(fits, "model", "expected a number of processes for each model that ", what,
                         size, ", got ", n);
  };
  const HeadCounts heads = config.heads();
  check(heads.n_kv_head % n == 0,
        heads.is_grouped() ? "divides n_kv_head = " : "divides n_head = ", heads.n_kv_head);
  check(n <= config.d_ff, "is at most d_ff = ", config.d_ff);
  check(n <= config.vocab_size, "is at most vocab_size = ", config.vocab_size);
}

// Whether a parameter is of one of the kinds of AdapterConfig::also.
bool is_of_kinds(const std::vector<std::string>& kinds, const std::string& name) {
  const auto is_of = [&](const std::string& kind) {
    if (kind == "posenc") return posenc::parameter_of(name).has_value();
    if (kind == "embedding") return name.starts_with("gpt_neox.embed_in.");
    if (kind == "head") return name.starts_with("embed_out");
    return name.find("layernorm.") != std::string::npos ||
           name.find("layer_norm.") != std::string::npos;
  };
  return std::any_of(kinds.begin(), kinds.end(), is_of);
}

// The rows of [B, T, D] as [B * T, D].
Tensor rows(const Tensor& x) { return reshape(x, {x.dim(0) * x.dim(1), x.dim(2)}); }

// Some rows of x [N, D]: places int32 [n] -> [n, D].
Tensor rows_at(const Tensor& x, const Tensor& places) {
  return embedding(cast(x, accumulate_dtype(x.dtype())), places, x.dtype());
}

}  // namespace

Transformer::Transformer(const ModelConfig& config, uint64_t seed, DType compute,
                         const Device& device, const Group& tensor, bool draws_weights)
    : config_(config),
      seed_(seed),
      compute_(compute),
      tensor_(tensor),
      encoding_(config.posenc, encoding_config(config, seed, compute, device)) {
  check_group(config, tensor);
  if (config.sees_later) require_no_distances(encoding_);
  const Initializer init{.seed = seed,
                         .dtype = parameter_dtype(compute),
                         .device = device,
                         .tensor = tensor,
                         .draws = draws_weights};
  const double table_std = config.init == InitScheme::neox
                               ? config.init_std
                               : 1 / std::sqrt(static_cast<double>(config.d_model));
  if (config.is_adaptive())
    adaptive_in_ = AdaptiveInput::make(init, "gpt_neox.embed_in", config);
  else
    embed_in_ =
        Embedding::make(init, "gpt_neox.embed_in", config.vocab_size, config.d_model, table_std);
  for (int64_t i = 0; i < config.n_layer; ++i)
    blocks_.push_back(Block::make(init, concat("gpt_neox.layers.", i), config));
  if (config.has_embedding_norm) embedding_norm_ = Norm::make(init, config);
  if (config.has_final_norm) final_norm_ = Norm::make(init, config);
  if (config.is_adaptive())
    adaptive_out_ = AdaptiveSoftmax::make(init, "embed_out", adaptive_in_, config);
  else if (config.ties_embedding)
    embed_out_ = {
        .weight = embed_in_.weight, .bias = {}, .shard = embed_in_.shard, .group = tensor};
  else
    embed_out_ = Linear::make(init, "embed_out", config.d_model, config.vocab_size, table_std,
                              /*has_bias=*/false, init.shard_of(0, config.vocab_size));
  if (config.adapters) add_adapters(init, *config.adapters);
}

void Transformer::add_adapters(const Initializer& init, const AdapterConfig& adapters) {
  for (size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i].add_adapters(init, concat("gpt_neox.layers.", i), adapters);
  if (!config_.is_adaptive())
    embed_out_.adapter = LowRank::make(init, "embed_out", config_.d_model, config_.vocab_size,
                                       adapters, {"head"}, {}, embed_out_.shard);
  start_magnitudes();
  for (Parameter& p : parameters())
    if (!is_of_kinds(adapters.also, p.name)) p.value.set_requires_grad(false);
}

void Transformer::start_magnitudes() {
  for (Block& block : blocks_)
    for (Linear* const layer : block.linears()) layer->adapter.start_magnitudes(layer->weight);
  embed_out_.adapter.start_magnitudes(embed_out_.weight);
}

void Transformer::hold_frozen_in_bf16() {
  require<ConfigError>(compute_ == DType::bf16, "model",
                       "expected a model that computes in bfloat16, got ", compute_);
  for (Block& block : blocks_)
    for (Linear* const layer : block.linears())
      if (!layer->weight.requires_grad()) layer->weight = layer->weight.to(DType::bf16);
}

void Transformer::keep_weight_copies() const {
  for (const Parameter& p : parameters()) {
    if (!p.is_rounded) continue;
    if (compute_ == DType::bf16 && p.value.dtype() == DType::f32) p.value.keep_rounded();
    if (p.value.device().kind == Device::Kind::cpu && p.value.rank() == 2) p.value.keep_packed();
  }
}

void Transformer::pack_weights() {
  require_whole("packed weights");
  std::vector<Tensor*> weights;
  if (!config_.is_adaptive()) weights.push_back(&embed_in_.weight);
  for (Block& block : blocks_)
    for (Linear* const layer : block.linears()) weights.push_back(&layer->weight);
  const bool is_tied = config_.ties_embedding;
  if (is_tied)
    embed_out_.weight = {};
  else if (!config_.is_adaptive())
    weights.push_back(&embed_out_.weight);
  int64_t numel = 0;
  for (const Tensor* weight : weights) numel += weight->numel();
  WeightBlock block(numel, static_cast<int64_t>(weights.size()), compute_,
                    blocks_[0].linears()[0]->weight.device());
  for (Tensor* weight : weights) block.take(*weight);
  if (is_tied) embed_out_.weight = embed_in_.weight;
}

void Transformer::require_whole(std::string_view what) const {
  require<ConfigError>(
      tensor_.is_alone(), "model", "expected one process with all of the model for ", what,
      ", got ", tensor_.size(), " that have it together; load its checkpoint in one process");
}

void Transformer::require_causal(std::string_view what) const {
  require<ConfigError>(!config_.sees_later, "model", "expected a causal model for ", what,
                       ", got an encoder, whose tokens see the ones that it would predict");
}

VocabularyPart Transformer::vocabulary() const {
  return {tensor_, embed_out_.shard.begin, config_.vocab_size};
}

void Transformer::set_logits(DType logits) {
  if (logits != parameter_dtype(compute_)) {
    require_whole("rounded logits");
    require<ConfigError>(logits == DType::bf16 && compute_ == DType::bf16 && !config_.is_adaptive(),
                         "model", "expected logits in ", parameter_dtype(compute_),
                         config_.is_adaptive() ? " with an adaptive softmax" : "", ", got ",
                         logits);
  }
  logits_ = logits;
}

bool Transformer::has_dropout() const {
  return config_.hidden_dropout > 0 || config_.attention_dropout > 0 ||
         config_.activation_dropout > 0 || config_.tail_dropout > 0 ||
         (config_.adapters && config_.adapters->dropout > 0);
}

posenc::Composition::Plan Transformer::plan(const Tensor& ids, posenc::Phase phase, uint64_t draw,
                                            int64_t first) const {
  const int64_t seq_len = ids.dim(1);
  std::optional<StepInputs> inputs;
  if (encoding_.is_random(phase)) inputs.emplace(ids.device());
  posenc::Composition::Plan plan = encoding_.plan(
      seq_len, seq_len, phase, {.n_sequence = ids.dim(0), .index = draw, .first = first});
  inputs.reset();
  keep_own_heads(plan, config_.n_head, tensor_);
  return plan;
}

Tensor Transformer::embed(const Tensor& ids) const {
  return config_.is_adaptive() ? adaptive_in_(ids, compute_) : embed_in_(ids, compute_);
}

Residual Transformer::enter(const Tensor& embedded, const posenc::Composition::Plan& plan,
                            int64_t first) const {
  Tensor x = embedded;
  const double scale = plan.token_scale == 1 && config_.scales_embedding
                           ? std::sqrt(static_cast<double>(config_.d_model))
                           : plan.token_scale;
  if (scale != 1) x = x * scale;
  if (plan.embedding.defined())
    x = x + cast(part_of(plan.embedding, first, first + x.dim(1)), compute_);
  if (config_.has_embedding_norm) x = embedding_norm_({.x = x, .branch = {}}).normed;
  return {.x = x, .branch = {}};
}

Tensor Transformer::leave(Residual stream) const {
  if (config_.has_final_norm) return final_norm_(std::move(stream)).normed;
  return stream.branch.defined() ? stream.x + stream.branch : stream.x;
}

Tensor Transformer::hidden(const Tensor& embedded, const posenc::Composition::Plan& plan,
                           int64_t n_row, bool checkpointed, LayerDropout drop) const {
  Residual stream = enter(embedded, plan, 0);
  stream.x = drop(stream.x, "embedding");
  for (size_t i = 0; i < blocks_.size(); ++i) {
    drop.layer = static_cast<int64_t>(i);
    const bool is_cut = i + 1 == blocks_.size() && n_row < embedded.dim(1);
    stream = is_cut         ? blocks_[i].last_rows(std::move(stream), plan.layers[i], n_row)
             : checkpointed ? blocks_[i].checkpointed(stream, plan.layers[i], drop)
                            : blocks_[i](std::move(stream), plan.layers[i], drop);
  }
  return leave(std::move(stream));
}

Tensor Transformer::loss(const Tensor& ids, const Tensor& targets, uint64_t draw,
                         const BatchPiece& piece) const {
  check_ids(ids);
  check_targets(targets, ids.shape());
  const LayerDropout drop{.hidden = config_.hidden_dropout,
                          .activation = config_.activation_dropout,
                          .attention = config_.attention_dropout,
                          .adapter = config_.adapters ? config_.adapters->dropout : 0,
                          .seed = seed_,
                          .draw = draw,
                          .n_sequence = ids.dim(0),
                          .first = piece.first,
                          .streams = piece.streams};
  posenc::Composition::Plan parts = plan(ids, posenc::Phase::train, draw, piece.first);
  if (piece.n_batch > 0)  // its penalty is not scaled by the caller's share of the loss
    for (posenc::Composition::Layer& layer : parts.layers)
      layer.rule.normalizer.penalty *=
          static_cast<double>(ids.dim(0)) / static_cast<double>(piece.n_batch);
  const Tensor x =
      rows(hidden(embed(ids), parts, ids.dim(1), checkpointing_ && grad_enabled(), drop));
  if (piece.scored.defined()) return scored_loss(x, piece);
  require_causal("the loss of all next tokens");
  const Tensor all = targets.view({targets.numel()});
  return config_.is_adaptive()
             ? adaptive_out_.loss(x, all, drop)
             : linear_cross_entropy(x, embed_out_.adapted_weight(), all, vocabulary(), logits_);
}

Tensor Transformer::scored_loss(const Tensor& x, const BatchPiece& piece) const {
  require<ConfigError>(!config_.is_adaptive(), "model",
                       "expected a softmax of one matrix for a loss of some places, got cutoffs");
  const Tensor mean = linear_cross_entropy(rows_at(x, piece.scored), embed_out_.adapted_weight(),
                                           piece.scored_targets, vocabulary(), logits_);
  return mean * (static_cast<double>(piece.scored.numel()) / piece.scored_per_piece);
}

Tensor Transformer::nll(const Tensor& ids, const Tensor& targets, uint64_t draw) const {
  check_ids(ids);
  check_targets(targets, ids.shape());
  return tail_nll(ids, targets, draw);
}

Tensor Transformer::tail_nll(const Tensor& ids, const Tensor& targets, uint64_t draw) const {
  check_ids(ids);
  require<ShapeError>(targets.rank() == 2 && targets.dim(0) == ids.dim(0) && targets.numel() > 0 &&
                          targets.dim(1) <= ids.dim(1),
                      "model", "expected targets of shape [", ids.dim(0), ", n], n from 1 to ",
                      ids.dim(1), ", got ", targets.shape());
  if (targets.dim(1) > 1) require_causal("the loss of several next tokens");
  const NoGrad no_grad;
  const Tensor x = hidden(embed(ids), plan(ids, posenc::Phase::eval, draw), targets.dim(1),
                          /*checkpointed=*/false);
  return next_nll(x, targets);
}

Tensor Transformer::last_nll(const Tensor& ids, const Tensor& targets, uint64_t draw) const {
  check_ids(ids);
  const int64_t batch_size = ids.dim(0);
  check_targets(targets, {batch_size});
  return tail_nll(ids, targets.view({batch_size, 1}), draw).view({batch_size});
}

Tensor Transformer::nll_at(const Tensor& ids, const Tensor& places, const Tensor& targets,
                           uint64_t draw) const {
  check_ids(ids);
  require<ShapeError>(places.rank() == 1 && places.numel() > 0, "model",
                      "expected places of shape [n], got ", places.shape());
  check_targets(targets, places.shape());
  const NoGrad no_grad;
  const Tensor x = hidden(embed(ids), plan(ids, posenc::Phase::eval, draw), ids.dim(1),
                          /*checkpointed=*/false);
  const Tensor chosen = rows_at(rows(x), places);
  const int64_t n = places.numel();
  return next_nll(reshape(chosen, {1, n, chosen.dim(1)}), targets.view({1, n})).view({n});
}

Tensor Transformer::input_gradient(const Tensor& ids, const Tensor& targets, InputScalar what,
                                   uint64_t draw) const {
  require_whole("the gradient of an input");
  check_ids(ids);
  check_targets(targets, {ids.dim(0)});
  const FrozenParameters frozen(parameters());
  const EnableGrad enable;
  Tensor embedded = embed(ids);
  embedded.set_requires_grad();
  const Tensor x = hidden(embedded, plan(ids, posenc::Phase::eval, draw), 1, /*checkpointed=*/true);
  // Rows do not depend on each other, so the gradient of their sum holds the gradient of each.
  backward(sum(scalar_of(next_logits(rows(x)), targets, what)));
  return embedded.grad();
}

std::vector<Tensor> Transformer::attention_to(const Tensor& ids,
                                              const std::vector<int32_t>& group_of,
                                              uint64_t draw) const {
  require_whole("weights of attention");
  check_ids(ids);
  require<ShapeError>(static_cast<int64_t>(group_of.size()) == ids.numel(), "model",
                      "expected a group of each of ", ids.numel(), " tokens, got ",
                      group_of.size());
  const int64_t n_head = config_.n_head, n_group = config_.head_dim(),
                n_kv_head = config_.heads().n_kv_head;
  // Attention is linear in the values: a token's membership of a group, as a component of its
  // value, comes out as the weight of the group.
  std::vector<double> members(static_cast<size_t>(ids.numel() * n_kv_head * n_group));
  for (int64_t i = 0; i < ids.numel(); ++i) {
    const int32_t group = group_of[static_cast<size_t>(i)];
    require<ConfigError>(group >= -1 && group < n_group, "model", "expected groups from -1 to ",
                         n_group - 1, ", got ", group);
    const int64_t b = i / ids.dim(1), t = i % ids.dim(1);
    for (int64_t h = 0; group >= 0 && h < n_kv_head; ++h)
      members[static_cast<size_t>(((b * n_kv_head + h) * ids.dim(1) + t) * n_group + group)] = 1;
  }
  const Tensor values =
      Tensor::from(members, {ids.dim(0), n_kv_head, ids.dim(1), n_group}, compute_, ids.device());
  const NoGrad no_grad;
  const posenc::Composition::Plan parts = plan(ids, posenc::Phase::eval, draw);
  Residual stream = enter(embed(ids), parts, 0);
  std::vector<Tensor> weights;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    weights.push_back(blocks_[i]
                          .attended(stream, parts.layers[i], values)
                          .view({ids.dim(0), ids.dim(1), n_head, n_group}));
    stream = blocks_[i](std::move(stream), parts.layers[i]);
  }
  return weights;
}

Tensor Transformer::logits(const Tensor& ids) const {
  require_whole("logits");
  check_ids(ids);
  const Tensor x = hidden(embed(ids), plan(ids, posenc::Phase::eval, /*draw=*/0), ids.dim(1),
                          checkpointing_ && grad_enabled());
  return config_.is_adaptive() ? next_logits(x) : embed_out_(x);
}

Tensor Transformer::last_logits(const Tensor& ids, uint64_t draw) const {
  require_whole("logits");
  check_ids(ids);
  const NoGrad no_grad;
  return next_logits(rows(hidden(embed(ids), plan(ids, posenc::Phase::eval, draw),
                                 /*n_row=*/1, /*checkpointed=*/false)));
}

std::string Transformer::cache_obstacle(int64_t seq_len, int64_t n_cached) const {
  try {
    make_cache(1, seq_len, n_cached);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

KeyValueCache Transformer::make_cache(int64_t n_sequence, int64_t seq_len, int64_t n_cached,
                                      uint64_t draw) const {
  require_whole("a cache");
  require_causal("a cache of keys and values");
  return KeyValueCache(encoding_, n_sequence, seq_len, n_cached, draw);
}

Tensor Transformer::extend(const Tensor& ids, KeyValueCache& cache, int64_t n_row) const {
  require_whole("a cache");
  check_ids(ids);
  const int64_t n = ids.dim(1), n_seen = cache.n_seen();
  require<ShapeError>(ids.dim(0) == cache.n_sequence() && n <= cache.seq_len() - n_seen, "extend",
                      "expected ids of ", cache.n_sequence(), " sequences and at most ",
                      cache.seq_len() - n_seen, " of their ", cache.seq_len(), " tokens, got ",
                      ids.shape());
  require<ShapeError>(n_row >= 1 && n_row <= n, "extend", "expected n_row from 1 to ", n, ", got ",
                      n_row);
  require<ShapeError>(
      cache.layers().size() == blocks_.size() && cache.layers().back().n_seen() == n_seen, "extend",
      "expected a cache of this model that no call has left half done; "
      "reset() it");
  const NoGrad no_grad;
  Residual stream = enter(embed(ids), cache.plan(), n_seen);
  for (size_t i = 0; i < blocks_.size(); ++i)
    stream = blocks_[i].last_rows(std::move(stream), cache.plan().layers[i],
                                  i + 1 == blocks_.size() ? n_row : n, &cache.layers()[i]);
  return leave(std::move(stream));
}

Tensor Transformer::next_logits(const Tensor& hidden) const {
  require_whole("logits");
  // A logit rounded to bfloat16 has lost its small differences.
  if (embed_out_.weight.defined() && embed_out_.weight.dtype() == DType::bf16)
    return wide_linear(hidden, embed_out_.weight);
  const Tensor x = cast(hidden, parameter_dtype(compute_));
  return config_.is_adaptive() ? adaptive_out_.log_probabilities(x) : embed_out_(x);
}

Tensor Transformer::next_nll(const Tensor& hidden, const Tensor& targets) const {
  const Tensor all = targets.view({targets.numel()});
  const Tensor nll = config_.is_adaptive()
                         ? adaptive_out_.nll(rows(hidden), all)
                         : linear_nll(rows(hidden), embed_out_.adapted_weight(), all, vocabulary());
  return nll.view(targets.shape());
}

VocabularyTensor vocabulary_tensor(const ModelConfig& config) {
  if (!config.is_adaptive())
    return {config.ties_embedding ? "gpt_neox.embed_in.weight" : "embed_out.weight", 0};
  return {concat("gpt_neox.embed_in.bands.", config.n_band() - 1, ".weight"),
          config.cutoffs.back()};
}

std::vector<Parameter> Transformer::parameters() const {
  std::vector<Parameter> all;
  const Visit add = [&](const Parameter& p) { all.push_back(p); };
  if (config_.is_adaptive()) {
    adaptive_in_.visit("gpt_neox.embed_in", add);
  } else {
    embed_in_.visit("gpt_neox.embed_in", add);
    all.back().is_rounded = config_.ties_embedding;  // by the head
  }
  if (config_.has_embedding_norm) embedding_norm_.visit("gpt_neox.embed_in_layernorm", add);
  for (size_t i = 0; i < blocks_.size(); ++i) blocks_[i].visit(concat("gpt_neox.layers.", i), add);
  if (config_.has_final_norm) final_norm_.visit("gpt_neox.final_layer_norm", add);
  if (config_.is_adaptive())
    adaptive_out_.visit("embed_out", add);
  else if (!config_.ties_embedding)
    embed_out_.visit("embed_out", add);
  for (Parameter p : encoding_.parameters()) {
    p.name = posenc::checkpoint_name(p.name);
    all.push_back(p);
  }
  return all;
}

std::vector<Parameter> Transformer::trained_parameters() const {
  std::vector<Parameter> own = parameters();
  if (!config_.adapters) return own;
  std::vector<Parameter> trained;
  const Visit add = [&](const Parameter& p) { trained.push_back(p); };
  for (size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i].visit_adapters(concat("gpt_neox.layers.", i), add);
  if (!config_.is_adaptive()) embed_out_.visit_adapter("embed_out", add);
  for (const Parameter& p : own)
    if (is_of_kinds(config_.adapters->also, p.name)) trained.push_back(p);
  return trained;
}

}  // namespace farfield
