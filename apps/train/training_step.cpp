#include "apps/train/training_step.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "apps/run/together.h"
#include "apps/run/weights.h"
#include "data/loader.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"

namespace farfield::train {
namespace {

constexpr std::string_view kWhere = "train";

ShardedOptimizer::Make maker(const StepOptions& options) {
  return
      [kind = options.optimizer](std::vector<Parameter> parameters) -> std::unique_ptr<Optimizer> {
        if (const auto* const nag = std::get_if<NagOptions>(&kind))
          return std::make_unique<Nag>(std::move(parameters), *nag);
        return std::make_unique<AdamW>(std::move(parameters), std::get<AdamWOptions>(kind));
      };
}

}  // namespace

bool StepOutcome::is_finite() const { return std::isfinite(loss) && std::isfinite(grad_norm); }

TrainingStep::TrainingStep(Transformer model, const StepOptions& options)
    : options_(options),
      pieces_(OwnPieces::of(options.shape, options.processes.data.rank(),
                            options.processes.data.size())),
      device_(model.encoding().config().device),
      model_(std::move(model)),
      optimizer_(std::make_unique<ShardedOptimizer>(model_.trained_parameters(), options.processes,
                                                    maker(options))),
      graph_(device_) {
  require<ConfigError>(processes().data.is_alone() || device_.kind == Device::Kind::cpu ||
                           !options.shape.deterministic_reduce,
                       kWhere, "expected --deterministic-reduce off of ", processes().data.size(),
                       " processes that share a batch on ", device_,
                       ", got on: the order in which NCCL adds is its own");
  model_.set_checkpointing(options.shape.checkpointing);
  if (options.shape.rounds_logits) model_.set_logits(DType::bf16);
  const Shape shape{pieces_.batch_size(), model_.config().train_len};
  inputs_ = Tensor::empty(shape, DType::i32, device_);
  targets_ = Tensor::empty(shape, DType::i32, device_);
  for (size_t i = 0; i < parameters().size(); ++i) number_of_[parameters()[i].value.raw_data()] = i;
  // Where several processes update it, a weight comes in pieces from all of them.
  if (model_.compute_dtype() == DType::bf16 && processes().data.is_alone())
    for (const Parameter& p : parameters())
      if (p.is_rounded) rounded_.push_back(p.value);
  if (model_.compute_dtype() == DType::bf16)  // frozen weights: once for all steps
    for (const Parameter& p : model_.parameters())
      if (p.is_rounded && p.value.dtype() == DType::f32 && !p.value.requires_grad())
        p.value.keep_rounded();
  if (pieces_.n > 1 && device_.kind == Device::Kind::cpu)  // each multiplies by all weights
    for (const Parameter& p : model_.parameters())
      if (p.is_rounded && p.value.rank() == 2) p.value.keep_packed();
  keep_rounded();
  if (!options.uses_graph) graph_.turn_off("--cuda-graph is off");
  if (!options.has_one_length) graph_.turn_off("steps have sequences of several lengths");
  if (options.has_answers) graph_.turn_off("each batch has its targets at other places");
  if (!processes().all.is_alone()) graph_.turn_off("several processes train together");
  if (model_.reads_tokens())
    graph_.turn_off("the adaptive input and softmax take each batch apart by its tokens");
  if (graph_.may_be_recorded() && model_.has_dropout())
    streams_.emplace(model_.config().n_layer, device_);
}

StepTimes TrainingStep::times() const {
  if (!optimizer_->is_sharded()) return {};
  const GradientBuckets& buckets = optimizer_->buckets();
  return {computed_s_, buckets.reduced_s(), buckets.waited_s(), updated_s_};
}

void TrainingStep::take(const Tensor& inputs, const Tensor& targets, int64_t index,
                        int64_t n_scored) {
  if (inputs.shape() != inputs_.shape()) {
    forget_recording();
    inputs_ = Tensor::empty(inputs.shape(), DType::i32, device_);
    targets_ = Tensor::empty(inputs.shape(), DType::i32, device_);
  }
  inputs_.assign(inputs);
  targets_.assign(targets);
  index_ = index;
  if (options_.has_answers) find_answers(n_scored);
  if (streams_) streams_->begin(static_cast<uint64_t>(index));
}

void TrainingStep::find_answers(int64_t n_scored) {
  const std::vector<double> targets = targets_.to_vector();
  const size_t per_piece = targets.size() / static_cast<size_t>(pieces_.n);
  scored_per_piece_ =
      static_cast<double>(n_scored) / static_cast<double>(pieces_.n * pieces_.n_process);
  answers_.clear();
  for (size_t first = 0; first < targets.size(); first += per_piece) {
    std::vector<int32_t> rows, of;
    for (size_t i = 0; i < per_piece; ++i) {
      if (targets[first + i] == data::kNotScored) continue;
      rows.push_back(static_cast<int32_t>(i));
      of.push_back(static_cast<int32_t>(targets[first + i]));
    }
    require<ConfigError>(!rows.empty(), kWhere, "expected a scored target in each micro-batch");
    const Shape shape{static_cast<int64_t>(rows.size())};
    answers_.push_back({Tensor::from(rows, shape, device_), Tensor::from(of, shape, device_)});
  }
}

Tensor TrainingStep::forward(int64_t piece) const {
  const Shape shape{pieces_.n_sequence, inputs_.dim(1)};
  const int64_t begin = piece * shape.numel();
  BatchPiece part{.first = draw_of(piece).first, .n_batch = options_.shape.batch_size};
  part.streams = streams_ ? &*streams_ : nullptr;
  if (!answers_.empty()) {
    const Answers& answers = answers_[static_cast<size_t>(piece)];
    part.scored = answers.rows;
    part.scored_targets = answers.targets;
    part.scored_per_piece = scored_per_piece_;
  }
  return model_.loss(inputs_.view(shape, begin), targets_.view(shape, begin),
                     static_cast<uint64_t>(index_), part);
}

posenc::Draw TrainingStep::draw_of(int64_t piece) const {
  return {.n_sequence = pieces_.n_sequence,
          .index = static_cast<uint64_t>(index_),
          .first = pieces_.first + piece * pieces_.n_sequence};
}

Tensor TrainingStep::share_of(const Tensor& loss) const {
  return Tensor::full({}, pieces_.share(), loss.dtype(), device_);
}

void TrainingStep::backward(const Tensor& loss) const { farfield::backward(loss, share_of(loss)); }

TrainingStep::Sums TrainingStep::sums() const {
  return {PieceTree(pieces_.n), std::vector<TreeSum>(parameters().size())};
}

void TrainingStep::backward(const Tensor& loss, int64_t piece, Sums& sums, bool sends) {
  const bool sends_now = sends && sums.tree.is_last(piece);
  std::vector<bool> is_added(sums.gradients.size());
  const auto add = [&](size_t i) {
    if (is_added[i]) return;
    is_added[i] = true;
    const Tensor& leaf = parameters()[i].value;
    if (options_.shape.deterministic_reduce) {  // otherwise backward() adds one to the other
      Tensor gradient = leaf.grad();
      leaf.set_grad({});
      leaf.set_grad(sums.gradients[i].add(sums.tree, piece, std::move(gradient)));
    }
    if (sends_now) send(i, leaf.grad());
  };
  const auto number_of = [&](const Tensor& leaf) { return number_of_.at(leaf.raw_data()); };
  LeafCalls calls;
  if (sends_now) calls.done = [&](const Tensor& leaf) { add(number_of(leaf)); };
  if (options_.shape.deterministic_reduce && sums.tree.n_closed(piece) > 0)
    calls.take_sum = [&](const Tensor& leaf) {
      return sums.gradients[number_of(leaf)].take_left();
    };
  farfield::backward(loss, share_of(loss), calls);
  for (size_t i = 0; i < is_added.size(); ++i) add(i);
}

// A process that left in the middle of a piece would have the others wait for it.
void TrainingStep::look_for_interrupt() const {
  const Group& tensor = processes().tensor;
  if (tensor.is_alone() || is_due == nullptr) return;
  if (run::in_any(tensor.communicator(), is_due()))
    fail<Interrupted>(kWhere, "stopped on request between pieces of a batch");
}

Tensor TrainingStep::forward_backward(bool sends) {
  const bool is_whole = processes().tensor.is_alone();
  const Interruptible interruptible(is_whole ? is_due : nullptr);  // the update that follows is not
  if (device_.kind == Device::Kind::cpu && is_whole && !FindNonfinite::is_active())
    if (const int64_t n = pieces_.at_once(options_.shape); n > 1)
      return forward_backward_at_once(n, sends);
  Sums all = sums();
  TreeSum loss_sum;
  Tensor total;
  for (int64_t piece = 0; piece < pieces_.n; ++piece) {
    look_for_interrupt();
    const Tensor loss = forward(piece);
    backward(loss, piece, all, sends);
    total = loss_sum.add(all.tree, piece, cast(loss.detach(), DType::f64));
  }
  return total;
}

// In the last round, the thread that completes the gradients of a parameter last adds up the
// gradients of all pieces and sends the sum, while the other threads go on. The order is always the
// order of the pieces.
Tensor TrainingStep::forward_backward_at_once(int64_t n_at_once, bool sends) {
  const PieceTree tree(pieces_.n);
  TreeSum loss_sum;
  std::vector<TreeSum> sums(parameters().size());
  Tensor total;
  for (int64_t first = 0; first < pieces_.n; first += n_at_once) {
    const int64_t n = std::min(n_at_once, pieces_.n - first);
    std::vector<Tensor> losses(static_cast<size_t>(n));
    std::vector<std::vector<Tensor>> gradients(losses.size(), std::vector<Tensor>(sums.size()));
    std::vector<std::atomic<int64_t>> n_told(sums.size());  // pieces whose gradient is complete
    const auto add = [&](size_t p) {
      Tensor sum;
      for (int64_t i = 0; i < n; ++i)
        sum = sums[p].add(tree, first + i, std::move(gradients[static_cast<size_t>(i)][p]));
      if (sum.defined()) parameters()[p].value.set_grad(std::move(sum));
    };
    const bool tells = sends && first + n == pieces_.n;
    parallel_for(n, [&](int64_t i) {
      const Interruptible interruptible(is_due);
      LeafGradients own(number_of_);
      const Tensor loss = forward(first + i);
      std::vector<Tensor>& mine = gradients[static_cast<size_t>(i)];
      if (tells)
        farfield::backward(
            loss, share_of(loss), {.done = [&](const Tensor& leaf) {
              const size_t p = number_of_.at(leaf.raw_data());
              Tensor gradient = own.take(p);  // alone, for another thread: backward goes on
              mine[p] = gradient.is_sole_owner() ? std::move(gradient) : gradient.clone();
              if (++n_told[p] < n) return;
              add(p);
              send(p, parameters()[p].value.grad());
            }});
      else
        backward(loss);
      losses[static_cast<size_t>(i)] = cast(loss.detach(), DType::f64);
      for (size_t p = 0; p < mine.size();
           ++p)  // gradients that were passed on are gone, perhaps already added up
        if (Tensor rest = own.take(p); rest.defined()) mine[p] = std::move(rest);
    });
    for (int64_t i = 0; i < n; ++i)
      total = loss_sum.add(tree, first + i, losses[static_cast<size_t>(i)]);
    for (size_t p = 0; p < sums.size(); ++p)
      if (n_told[p] < n) add(p);
  }
  return total;
}

void TrainingStep::send(size_t i, const Tensor& gradient) {
  if (is_sent_[i]) return;
  optimizer_->buckets().put(i, gradient);
  is_sent_[i] = true;  // only now: an interrupted copy is sent again, so that no other waits for it
  has_gradient_[i] = gradient.defined();
}

std::pair<double, std::vector<bool>> TrainingStep::agree(double own_losses, bool has_given_up) {
  std::vector<double> sums = {own_losses, has_given_up ? 1.0 : 0.0};
  for (const bool has : has_gradient_) sums.push_back(has ? 1 : 0);
  GradientBuckets& buckets = optimizer_->buckets();
  sums.insert(sums.end(), buckets.turns().begin(), buckets.turns().end());
  processes().data.communicator().sum(sums);
  if (sums[1] > 0)
    fail<Interrupted>(kWhere, "stopped on request in the middle of a step, by ", sums[1], " of ",
                      processes().data.size(), " processes");
  const auto turns = sums.begin() + 2 + static_cast<std::ptrdiff_t>(has_gradient_.size());
  std::vector<bool> have_gradient;
  for (auto sum = sums.begin() + 2; sum != turns; ++sum) have_gradient.push_back(*sum > 0);
  buckets.set_order({turns, sums.end()});
  return {sums[0], have_gradient};
}

void TrainingStep::update(const Tensor& mean_loss, const std::vector<bool>& have_gradient) {
  const Tensor norm = optimizer_->grad_norm();
  optimizer_->update({.loss = mean_loss, .grad_norm = norm, .max_norm = options_.max_norm},
                     have_gradient);
  model_.project();  // changes nothing where there was no update
  outcome_ = concat({reshape(mean_loss, {1}), reshape(norm, {1})}, 0);
}

void TrainingStep::update(double lr, const Tensor& mean_loss) {
  optimizer_->begin_update(lr);
  update(mean_loss, {});
}

void TrainingStep::compute() {
  optimizer_->zero_grad();
  const Tensor losses = forward_backward(/*sends=*/false);
  if (after_backward) after_backward(index_, parameters());
  update(losses * pieces_.share(), {});
}

// The same with processes that share the batch. A process that gives up sends zeros for missing
// gradients, so that no other waits for it.
void TrainingStep::compute_with_others() {
  optimizer_->zero_grad();
  is_sent_.assign(parameters().size(), false);
  has_gradient_.assign(parameters().size(), false);
  GradientBuckets& buckets = optimizer_->buckets();
  buckets.begin();
  const auto start = std::chrono::steady_clock::now();
  double losses = 0;
  bool has_given_up = false;
  try {
    losses = forward_backward(/*sends=*/!after_backward).item();
    if (after_backward) after_backward(index_, parameters());
  } catch (const Interrupted&) {
    has_given_up = true;
    optimizer_->zero_grad();
  } catch (...) {
    buckets.give_up();
    throw;
  }
  for (size_t i = 0; i < parameters().size(); ++i) send(i, parameters()[i].value.grad());
  computed_s_ += seconds_since(start);
  buckets.finish();
  const auto [sum, have_gradient] = agree(losses, has_given_up);
  const auto summed = std::chrono::steady_clock::now();
  update(Tensor::full({}, sum * pieces_.share(), DType::f64, device_), have_gradient);
  updated_s_ += seconds_since(summed);
}

// Draws the positions of the next batch, for a recording of another batch.
void TrainingStep::draw_positions() {
  const posenc::Composition& encoding = model_.encoding();
  const int64_t length = inputs_.dim(1);
  graph_.refill(
      [&] {
        const NoGrad no_grad;
        const StepInputs inputs(device_);
        for (int64_t piece = 0; piece < pieces_.n; ++piece)
          encoding.plan(length, length, posenc::Phase::train, draw_of(piece));
      },
      concat("'", encoding.canonical(), "' has tables of another size for another batch"));
  if (!graph_.is_recorded()) recorded_gradients_.clear();
}

void TrainingStep::run_graph() {
  if (graph_.is_next_recorded()) {
    // The tables that the encoding keeps must be there by then: a recording that fails would leave
    // some that were never computed.
    const NoGrad no_grad;
    const int64_t length = inputs_.dim(1);
    model_.encoding().plan(length, length, posenc::Phase::train,
                           {.n_sequence = pieces_.n_sequence});
  }
  if (graph_.is_recorded() && model_.encoding().is_random(posenc::Phase::train)) draw_positions();
  graph_.run([this] { compute(); });
  // A weight was written in the middle of the step. A replay would write it again without notice.
  if (!are_rounded()) forget_recording();
  if (graph_.is_recorded() && recorded_gradients_.empty())
    for (const Parameter& p : parameters()) recorded_gradients_.push_back(p.value.grad());
}

void TrainingStep::keep_rounded() const {
  for (const Tensor& x : rounded_) x.keep_rounded();
}

bool TrainingStep::are_rounded() const {
  return std::all_of(rounded_.begin(), rounded_.end(),
                     [](const Tensor& x) { return x.has_rounded(); });
}

void TrainingStep::forget_recording() {
  graph_.forget();
  recorded_gradients_.clear();
}

void TrainingStep::run(double lr) {
  keep_rounded();  // not in a recording, which would do so each time
  optimizer_->begin_update(lr);
  try {
    if (!processes().data.is_alone())
      compute_with_others();
    else if (after_backward)
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

ProductChoices TrainingStep::tune_products() {
  const auto work = [this] {
    optimizer_->zero_grad();
    forward_backward(/*sends=*/false);
    optimizer_->zero_grad();
  };
  std::string chosen;
  if (processes().all.is_first())
    chosen = to_text(farfield::tune_products(device_, work));
  else
    work();
  chosen = processes().all.communicator().broadcast(chosen);
  ProductChoices choices = parse_product_choices("the first process's", chosen);
  use_product_choices(device_, choices);
  return choices;
}

void TrainingStep::restore(const std::map<std::string, Tensor>& weights,
                           const std::map<std::string, Tensor>& moments, int64_t t) {
  forget_recording();  // it updates the moments that are replaced
  std::vector<Parameter> own = parameters();
  auto optimizer = std::make_unique<ShardedOptimizer>(own, processes(), maker(options_));
  optimizer->load_state(moments, t);
  run::load_weights(own, weights);
  optimizer_ = std::move(optimizer);
}

}  // namespace farfield::train
