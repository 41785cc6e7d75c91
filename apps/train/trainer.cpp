#include "apps/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "apps/run/weights.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/view.h"
#include "engine/schedule.h"

namespace farfield::train {
namespace {

Tensor tensor_of(const std::vector<int32_t>& values, const Shape& shape, const Device& device) {
  return Tensor::from(std::span<const int32_t>(values), shape, device);
}

AdamWOptions optimizer_options(const run::RunConfig& config) {
  AdamWOptions options;
  options.weight_decay = config.weight_decay.value();
  return options;
}

}  // namespace

Trainer::Trainer(const run::RunConfig& config, const data::Corpus& corpus)
    : config_(config),
      data_hash_(corpus.hash()),
      valid_(corpus.split("valid")),
      loader_(corpus.split("train"), *config.batch, *config.train_len, config.seed),
      device_(parse_device(config.device)),
      model_(run::model_config(config, corpus.vocab_size()), config.seed, config.dtype(), device_),
      parameters_(model_.parameters()),
      optimizer_(parameters_, optimizer_options(config)),
      graph_(device_) {
  model_.set_checkpointing(config.checkpoint_activations);
  const Shape shape{*config.batch, *config.train_len};
  now_.inputs = Tensor::empty(shape, DType::i32, device_);
  now_.targets = Tensor::empty(shape, DType::i32, device_);
  if (config.cuda_graph == "off") graph_.turn_off("--cuda-graph is off");
  if (model_.is_random(posenc::Phase::train))
    graph_.turn_off(model_.encoding().is_random(posenc::Phase::train)
                        ? concat("'", config.posenc, "' draws other positions for each batch")
                        : "--hidden-dropout draws other masks for each batch");
  if (config.accumulate == 1) return;
  for (const auto& layer : model_.encoding().plan(1, 1, posenc::Phase::train).layers)
    require<ConfigError>(
        layer.rule.normalizer.penalty == 0, "train",
        "expected accumulate 1 with a penalty on the rows of attention, which is a "
        "mean over the whole batch, got ",
        config.accumulate);
}

void Trainer::restore(const run::Checkpoint& checkpoint) {
  constexpr std::string_view kWhere = "checkpoint";
  const run::Settings mine = run::identity(run::to_settings(config_)),
                      theirs = run::identity(checkpoint.state.config);
  const std::string key = run::first_difference(theirs, mine);
  require<ConfigError>(key.empty(), kWhere,
                       "expected a checkpoint of this configuration, got one "
                       "with ",
                       key, " = ", run::value_of(theirs, key), " instead of ",
                       run::value_of(mine, key));
  require<ConfigError>(checkpoint.state.data_hash == data_hash_, kWhere,
                       "expected the data the run was started on (hash ",
                       checkpoint.state.data_hash, "), got other data (hash ", data_hash_,
                       "); name the folder where the former lies now with --data");
  graph_.forget();  // it updates the moments that are replaced
  recorded_gradients_.clear();
  AdamW optimizer(parameters_, optimizer_options(config_));
  optimizer.load_state(checkpoint.optimizer, checkpoint.state.optimizer_t);
  run::load_weights(parameters_, checkpoint.model);
  optimizer_ = std::move(optimizer);
  step_ = checkpoint.state.step;
  tokens_ = checkpoint.state.tokens;
  time_s_ = checkpoint.state.time_s;
  left_out_.insert(checkpoint.state.skipped.begin(), checkpoint.state.skipped.end());
}

Trainer::Tokens Trainer::tokens_of(int64_t step) const {
  Tokens tokens;
  tokens.step = step;
  tokens.batch = loader_.batch(step);
  const Shape shape{*config_.batch, *config_.train_len};
  tokens.inputs = tensor_of(tokens.batch.inputs, shape, device_);
  tokens.targets = tensor_of(tokens.batch.targets, shape, device_);
  return tokens;
}

// The mean loss, float64 [].
Tensor Trainer::forward_backward(const Tokens& tokens) const {
  const Interruptible interruptible(is_due);  // the update that follows is not
  const int64_t pieces = config_.accumulate;
  const Shape shape{*config_.batch / pieces, *config_.train_len};
  Tensor sum;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t begin = piece * shape.numel();
    const Tensor loss =
        model_.loss(tokens.inputs.view(shape, begin), tokens.targets.view(shape, begin),
                    static_cast<uint64_t>(tokens.step * pieces + piece));
    backward(loss, Tensor::full({}, 1.0 / static_cast<double>(pieces), loss.dtype(), device_));
    const Tensor wide = cast(loss.detach(), DType::f64);
    sum = sum.defined() ? sum + wide : wide;
  }
  return pieces == 1 ? sum : sum / static_cast<double>(pieces);
}

void Trainer::compute() {
  optimizer_.zero_grad();
  const Tensor loss = forward_backward(now_);
  if (after_backward) after_backward(now_.step + 1, parameters_);
  const Tensor norm = device_grad_norm(parameters_);
  optimizer_.update({.loss = loss, .grad_norm = norm, .max_norm = *config_.clip});
  model_.project();  // changes nothing where there was no update
  outcome_ = concat({reshape(loss, {1}), reshape(norm, {1})}, 0);
}

void Trainer::run_graph() {
  if (graph_.is_next_recorded()) {
    // The tables that the encoding keeps must be there by then: a recording that fails would leave
    // some that were never computed.
    const NoGrad no_grad;
    const int64_t length = *config_.train_len;
    model_.encoding().plan(length, length, posenc::Phase::train,
                           {*config_.batch / config_.accumulate, 0});
  }
  graph_.run([this] { compute(); });
  if (graph_.is_recorded() && recorded_gradients_.empty())
    for (const Parameter& p : parameters_) recorded_gradients_.push_back(p.value.grad());
}

StepResult Trainer::step() {
  const auto start = std::chrono::steady_clock::now();
  StepResult result;
  result.step = step_ + 1;
  result.lr = learning_rate(
      {.peak_lr = *config_.lr, .decay_steps = *config_.steps, .warmup_fraction = *config_.warmup},
      result.step);
  const Tokens tokens = next_ && next_->step == step_ ? *std::move(next_) : tokens_of(step_);
  next_.reset();
  now_.step = step_;
  now_.inputs.assign(tokens.inputs);
  now_.targets.assign(tokens.targets);
  optimizer_.begin_update(result.lr);
  // The device is given all of the step, and decides itself whether there is an update, before the
  // host first looks at a number: it never stands still within a step.
  const bool is_plain = !after_backward;
  try {
    if (is_plain)
      run_graph();
    else
      compute();
  } catch (...) {  // before the update
    optimizer_.take_back();
    optimizer_.zero_grad();
    throw;
  }
  if (result.step < *config_.steps) next_ = tokens_of(result.step);
  const std::vector<double> seen = outcome_.to_vector();
  result.loss = seen[0];
  result.grad_norm = seen[1];
  if (std::isfinite(result.loss) && std::isfinite(result.grad_norm)) {
    step_ = result.step;
    tokens_ += *config_.batch * *config_.train_len;
  } else {
    optimizer_.take_back();
    if (is_plain)
      for (size_t i = 0; i < recorded_gradients_.size(); ++i)
        parameters_[i].value.set_grad(recorded_gradients_[i]);
    result.problem = describe(tokens, result.loss, result.grad_norm);
  }
  optimizer_.zero_grad();
  time_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// The step once more, slowly, to see where it goes wrong. An encoding without a finite value
// anywhere refuses for itself, and says more.
std::string Trainer::describe(const Tokens& tokens, double loss, double norm) {
  const int64_t length = *config_.train_len;
  model_.encoding().plan(length, length, posenc::Phase::eval);
  std::string first;
  for (const Parameter& p : parameters_) {
    if (!is_finite(p.value)) {
      first = concat("weights of '", p.name, "'");
      break;
    }
    if (first.empty() && p.value.grad().defined() && !is_finite(p.value.grad()))
      first = concat("gradient of '", p.name, "'");
  }
  optimizer_.zero_grad();
  {
    const FindNonfinite find;
    forward_backward(tokens);
    if (!find.found().empty()) first = find.found();
  }
  const data::Batch& batch = tokens.batch;
  const auto [least, most] = std::minmax_element(batch.begins.begin(), batch.begins.end());
  return concat("step ", step_ + 1, ": expected finite numbers, got loss ", loss,
                " and gradient norm ", norm, "; windows at train tokens ", *least, " to ", *most,
                ", epoch ", batch.epoch,
                "; first to go wrong: ", first.empty() ? "nothing when repeated" : first);
}

std::optional<double> Trainer::valid_loss() {
  const Interruptible interruptible(is_due);
  const int64_t length = *config_.train_len;
  const int64_t n = std::min(config_.valid_windows, (valid_.size() - 1) / length);
  if (n < 1) return std::nullopt;
  const int64_t spread = valid_.size() - 1 - length;  // begin of the last window
  const int64_t most = *config_.batch / config_.accumulate;
  double sum = 0;
  for (int64_t first = 0; first < n; first += most) {
    const int64_t count = std::min(most, n - first);
    std::vector<int32_t> ids, targets, window(static_cast<size_t>(length + 1));
    for (int64_t i = first; i < first + count; ++i) {
      valid_.copy(n == 1 ? 0 : spread / (n - 1) * i, length + 1, window.data());
      ids.insert(ids.end(), window.begin(), window.end() - 1);
      targets.insert(targets.end(), window.begin() + 1, window.end());
    }
    const Shape shape{count, length};
    const Tensor nll =
        model_.nll(tensor_of(ids, shape, device_), tensor_of(targets, shape, device_));
    for (const double value : nll.to_vector()) sum += value;
  }
  return sum / static_cast<double>(n * length);
}

run::TrainState Trainer::state() const {
  return {.step = step_,
          .tokens = tokens_,
          .optimizer_t = optimizer_.t(),
          .time_s = time_s_,
          .skipped = {left_out_.begin(), left_out_.end()},
          .data_hash = data_hash_,
          .config = run::identity(run::to_settings(config_))};
}

run::NamedTensors Trainer::model_tensors() const {
  run::NamedTensors tensors;
  for (const Parameter& p : parameters_) tensors.emplace_back(p.name, p.value);
  return tensors;
}

}  // namespace farfield::train
