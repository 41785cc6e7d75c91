#include "apps/train/training_step.h"

#include <cmath>

#include "apps/run/weights.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/view.h"

namespace farfield::train {
namespace {

constexpr std::string_view kWhere = "train";

void check_pieces(const StepShape& shape, const posenc::Composition& encoding) {
  require<ConfigError>(
      shape.batch_size >= 1 && shape.accumulate >= 1 && shape.batch_size % shape.accumulate == 0,
      kWhere, "expected a batch of sequences in equal pieces, got ", shape.batch_size, " in ",
      shape.accumulate);
  if (shape.accumulate == 1) return;
  for (const auto& layer : encoding.plan(1, 1, posenc::Phase::train).layers)
    require<ConfigError>(layer.rule.normalizer.penalty == 0, kWhere,
                         "expected accumulate 1 with a penalty on the rows of attention, which is "
                         "a mean over the whole batch, got ",
                         shape.accumulate);
}

std::unique_ptr<Optimizer> make_optimizer(std::vector<Parameter> parameters,
                                          const StepOptions& options) {
  if (const auto* const nag = std::get_if<NagOptions>(&options.optimizer))
    return std::make_unique<Nag>(std::move(parameters), *nag);
  return std::make_unique<AdamW>(std::move(parameters), std::get<AdamWOptions>(options.optimizer));
}

}  // namespace

bool StepOutcome::is_finite() const { return std::isfinite(loss) && std::isfinite(grad_norm); }

TrainingStep::TrainingStep(Transformer model, const StepOptions& options)
    : options_(options),
      device_(model.encoding().config().device),
      model_(std::move(model)),
      optimizer_(make_optimizer(model_.parameters(), options)),
      graph_(device_) {
  check_pieces(options.shape, model_.encoding());
  model_.set_checkpointing(options.shape.checkpointing);
  const Shape shape{options.shape.batch_size, model_.config().train_len};
  inputs_ = Tensor::empty(shape, DType::i32, device_);
  targets_ = Tensor::empty(shape, DType::i32, device_);
  if (!options.uses_graph) graph_.turn_off("--cuda-graph is off");
  if (model_.is_random(posenc::Phase::train))
    graph_.turn_off(
        model_.encoding().is_random(posenc::Phase::train)
            ? concat("'", model_.encoding().canonical(), "' draws other positions for each batch")
        : model_.config().hidden_dropout > 0 ? "--hidden-dropout draws other masks for each batch"
                                             : "dropout draws other masks for each batch");
  if (model_.reads_tokens())
    graph_.turn_off("the adaptive input and softmax take each batch apart by its tokens");
}

void TrainingStep::take(const Tensor& inputs, const Tensor& targets, int64_t index) {
  inputs_.assign(inputs);
  targets_.assign(targets);
  index_ = index;
}

Tensor TrainingStep::forward(int64_t piece) const {
  const int64_t pieces = options_.shape.accumulate;
  const Shape shape{options_.shape.batch_size / pieces, inputs_.dim(1)};
  const int64_t begin = piece * shape.numel();
  return model_.loss(inputs_.view(shape, begin), targets_.view(shape, begin),
                     static_cast<uint64_t>(index_ * pieces + piece));
}

void TrainingStep::backward(const Tensor& loss) const {
  const double share = 1.0 / static_cast<double>(options_.shape.accumulate);
  farfield::backward(loss, Tensor::full({}, share, loss.dtype(), device_));
}

Tensor TrainingStep::forward_backward() const {
  const Interruptible interruptible(is_due);  // the update that follows is not
  const int64_t pieces = options_.shape.accumulate;
  Tensor sum;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const Tensor loss = forward(piece);
    backward(loss);
    const Tensor wide = cast(loss.detach(), DType::f64);
    sum = sum.defined() ? sum + wide : wide;
  }
  return pieces == 1 ? sum : sum / static_cast<double>(pieces);
}

void TrainingStep::update(const Tensor& mean_loss) {
  const Tensor norm = device_grad_norm(parameters());
  optimizer_->update({.loss = mean_loss, .grad_norm = norm, .max_norm = options_.max_norm});
  model_.project();  // changes nothing where there was no update
  outcome_ = concat({reshape(mean_loss, {1}), reshape(norm, {1})}, 0);
}

void TrainingStep::update(double lr, const Tensor& mean_loss) {
  optimizer_->begin_update(lr);
  update(mean_loss);
}

void TrainingStep::compute() {
  optimizer_->zero_grad();
  const Tensor loss = forward_backward();
  if (after_backward) after_backward(index_, parameters());
  update(loss);
}

void TrainingStep::run_graph() {
  if (graph_.is_next_recorded()) {
    // The tables that the encoding keeps must be there by then: a recording that fails would leave
    // some that were never computed.
    const NoGrad no_grad;
    const int64_t length = inputs_.dim(1);
    model_.encoding().plan(length, length, posenc::Phase::train,
                           {options_.shape.batch_size / options_.shape.accumulate, 0});
  }
  graph_.run([this] { compute(); });
  if (graph_.is_recorded() && recorded_gradients_.empty())
    for (const Parameter& p : parameters()) recorded_gradients_.push_back(p.value.grad());
}

void TrainingStep::run(double lr) {
  optimizer_->begin_update(lr);
  try {
    if (after_backward)
      compute();
    else
      run_graph();
  } catch (...) {  // before the update
    optimizer_->take_back();
    optimizer_->zero_grad();
    throw;
  }
}

StepOutcome TrainingStep::outcome() {
  const std::vector<double> seen = outcome_.to_vector();
  const StepOutcome outcome{seen[0], seen[1]};
  if (outcome.is_finite()) return outcome;
  optimizer_->take_back();
  if (!after_backward)
    for (size_t i = 0; i < recorded_gradients_.size(); ++i)
      parameters()[i].value.set_grad(recorded_gradients_[i]);
  return outcome;
}

void TrainingStep::restore(const std::map<std::string, Tensor>& weights,
                           const std::map<std::string, Tensor>& moments, int64_t t) {
  graph_.forget();  // it updates the moments that are replaced
  recorded_gradients_.clear();
  std::vector<Parameter> own = parameters();
  std::unique_ptr<Optimizer> optimizer = make_optimizer(own, options_);
  optimizer->load_state(moments, t);
  run::load_weights(own, weights);
  optimizer_ = std::move(optimizer);
}

}  // namespace farfield::train
