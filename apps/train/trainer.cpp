#include "apps/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <span>

#include "apps/run/together.h"
#include "data/grid.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/distributed/gather.h"
#include "engine/ops/reduce.h"
#include "engine/schedule.h"

namespace farfield::train {
namespace {

StepOptions step_options(const run::ResolvedConfig& config, const ProcessGrid& processes) {
  StepOptions options;
  options.processes = processes;
  options.shape = shape_of(config);
  if (config.optimizer == OptimizerKind::nag)
    options.optimizer =
        NagOptions{.momentum = config.momentum, .weight_decay = config.weight_decay};
  else
    options.optimizer = AdamWOptions{.weight_decay = config.weight_decay};
  options.max_norm = config.clip;
  options.uses_graph = config.uses_cuda_graph;
  options.has_one_length = config.lengths.size() < 2 && config.task.empty();
  options.has_answers = !config.task.empty() || config.is_masked();
  return options;
}

std::vector<data::Corpus> with_valid_splits(const run::TrainingData& data) {
  for (const data::Corpus& corpus : data.corpora())
    if (!corpus.has_split("valid")) return {};
  return data.corpora();
}

// Of all processes that have a model together.
int64_t n_element(const std::vector<Parameter>& parameters) {
  int64_t n = 0;
  for (const Parameter& p : parameters) n += p.shard.whole_of(p.value.shape()).numel();
  return n;
}

Transformer initial_model(const run::ResolvedConfig& config, int64_t n_vocab, const Group& tensor,
                          const Trainer::Initialize& initialize) {
  Transformer model(config.model_of(n_vocab), config.seed, config.dtype, config.device, tensor);
  if (initialize) initialize(model);
  if (config.holds_base_in_bf16) model.hold_frozen_in_bf16();
  return model;
}

}  // namespace

Trainer::Trainer(const run::ResolvedConfig& config, const run::TrainingData& data,
                 const ProcessGrid& processes, const Initialize& initialize)
    : config_(config),
      data_hash_(data.hash()),
      valid_(with_valid_splits(data)),
      weights_(data.weights()),
      batches_(run::batches_of(config, data)),
      masking_(run::masking_of(config, data)),
      step_(initial_model(config, run::vocab_size_of(config, data), processes.tensor, initialize),
            step_options(config, processes)) {}

Trainer::Trainer(const run::ResolvedConfig& config, const run::TrainingData& data,
                 const Group& group, const Initialize& initialize)
    : Trainer(config, data, ProcessGrid::of(group, config.tensor_parallel), initialize) {}

void Trainer::call_after_backward(
    std::function<void(int64_t, const std::vector<Parameter>&)> call) {
  if (!call)
    step_.after_backward = nullptr;
  else
    step_.after_backward = [call = std::move(call)](int64_t index, const auto& parameters) {
      call(index + 1, parameters);
    };
}

void Trainer::restore(const run::Checkpoint& checkpoint) {
  constexpr std::string_view kWhere = "checkpoint";
  const run::Settings mine = run::identity(config_.settings),
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
                       "); name the folder of the data in the checkpoint with --data");
  step_.restore(checkpoint.model, checkpoint.optimizer, checkpoint.state.optimizer_t);
  done_ = checkpoint.state.step;
  tokens_ = checkpoint.state.tokens;
  time_s_ = checkpoint.state.time_s;
  left_out_.insert(checkpoint.state.skipped.begin(), checkpoint.state.skipped.end());
}

Trainer::Tokens Trainer::tokens_of(int64_t step) {
  Tokens tokens;
  tokens.step = step;
  tokens.batch = batches_.take(step);
  const OwnPieces& own = step_.pieces();
  const Shape shape{own.batch_size(), tokens.batch.seq_len};
  const auto part = [&](const std::vector<int32_t>& ids) {
    const std::span<const int32_t> all(ids);
    return Tensor::from(all.subspan(static_cast<size_t>(own.first * tokens.batch.seq_len),
                                    static_cast<size_t>(shape.numel())),
                        shape, config_.device);
  };
  tokens.inputs = part(tokens.batch.inputs);
  tokens.targets = part(tokens.batch.targets);
  const std::vector<int32_t>& targets = tokens.batch.targets;
  tokens.n_scored = static_cast<int64_t>(targets.size()) -
                    std::count(targets.begin(), targets.end(), data::kNotScored);
  return tokens;
}

ProductChoices Trainer::tune_products() {
  if (!next_) next_ = tokens_of(done_);
  step_.take(next_->inputs, next_->targets, done_, next_->n_scored);
  return step_.tune_products();
}

StepResult Trainer::step() {
  const auto start = std::chrono::steady_clock::now();
  StepResult result;
  result.step = done_ + 1;
  result.lr = learning_rate({.peak_lr = config_.lr,
                             .decay_steps = config_.steps,
                             .warmup_fraction = config_.warmup,
                             .start_lr = config_.lr_start,
                             .end_lr = config_.lr_end,
                             .form = config_.schedule},
                            result.step);
  const Tokens tokens = next_ && next_->step == done_ ? *std::move(next_) : tokens_of(done_);
  next_.reset();
  step_.take(tokens.inputs, tokens.targets, done_, tokens.n_scored);
  step_.run(result.lr);
  if (result.step < config_.steps) next_ = tokens_of(result.step);  // while the device computes
  const StepOutcome outcome = step_.outcome();
  result.loss = outcome.loss;
  result.grad_norm = outcome.grad_norm;
  if (outcome.is_finite()) {
    done_ = result.step;
    tokens_ += config_.batch * tokens.batch.seq_len;
  } else {
    result.problem = describe(tokens, outcome);
  }
  step_.clear_gradients();
  time_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// The step once more, slowly, to see where it goes wrong. An encoding without a finite value
// anywhere refuses for itself, and says more.
std::string Trainer::describe(const Tokens& tokens, const StepOutcome& outcome) {
  const int64_t length = tokens.batch.seq_len;
  model().encoding().plan(length, length, posenc::Phase::eval);
  std::string first;
  for (const Parameter& p : step_.parameters()) {
    if (!is_finite(p.value)) {
      first = concat("weights of '", p.name, "'");
      break;
    }
    if (first.empty() && p.value.grad().defined() && !is_finite(p.value.grad()))
      first = concat("gradient of '", p.name, "'");
  }
  step_.clear_gradients();
  try {
    const FindNonfinite find;
    step_.forward_backward();
    if (!find.found().empty()) first = find.found();
  } catch (const Interrupted&) {
    // The facts known so far must suffice.
  }
  const std::vector<std::string> of_all = group().communicator().gather(first);
  for (size_t rank = of_all.size(); rank-- > 0;)
    if (!of_all[rank].empty())
      first = of_all.size() == 1 ? of_all[rank] : concat(of_all[rank], " in process ", rank);
  const std::vector<data::Batch::Row>& rows = tokens.batch.rows;
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(),
      [](const auto& a, const auto& b) { return a.place.begin < b.place.begin; });
  return concat("step ", done_ + 1, ": expected finite numbers, got loss ", outcome.loss,
                " and gradient norm ", outcome.grad_norm, "; windows at train tokens ",
                least->place.begin, " to ", most->place.begin, ", epoch ", rows.front().place.epoch,
                "; first to go wrong: ", first.empty() ? "nothing when repeated" : first);
}

std::optional<double> Trainer::valid_loss() {
  // A process that left in the middle of a pass would have those wait that have the model with it.
  const bool is_whole = step_.processes().tensor.is_alone();
  const Interruptible interruptible(is_whole ? step_.is_due : nullptr);
  double sum = 0;
  const std::vector<int64_t> n_window = valid_windows();
  for (size_t i = 0; i < n_window.size(); ++i)
    for (const double loss : window_losses(valid_[i], n_window[i])) sum += loss;
  if (n_window.empty()) return std::nullopt;
  const int64_t n_scored = config_.is_masked() ? data::n_masked(config_.train_len(), masking_.share)
                                               : config_.train_len();
  return sum / static_cast<double>(n_valid_window() * n_scored);
}

int64_t Trainer::n_valid_window() const {
  const std::vector<int64_t> n_window = valid_windows();
  return std::accumulate(n_window.begin(), n_window.end(), int64_t{0});
}

// By corpus, by weight; none where one corpus has none.
std::vector<int64_t> Trainer::valid_windows() const {
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  std::vector<int64_t> n_window;
  for (size_t i = 0; i < valid_.size(); ++i) {
    const double share =
        std::round(static_cast<double>(config_.valid_windows) * weights_[i] / total);
    const int64_t n_there = data::Grid::windows(valid_[i].split("valid").size(),
                                                valid_[i].document_tokens(), config_.train_len())
                                .size();
    if (n_there < 1) return {};
    const double n = std::clamp(share, 1.0, static_cast<double>(n_there));
    n_window.push_back(static_cast<int64_t>(n));
  }
  return n_window;
}

// Passes of so many windows as a piece has sequences; processes take turns with them.
std::vector<double> Trainer::window_losses(const data::Corpus& corpus, int64_t n) {
  const int64_t length = config_.train_len();
  const data::Tokens& tokens = corpus.split("valid");
  const data::Grid begins(tokens.size(), corpus.document_tokens(), length + 1, 1);
  const int64_t last = begins.size() - 1;
  const int64_t most = config_.batch / shape_of(config_).n_piece();
  std::vector<double> losses(static_cast<size_t>(n));
  const Group &data = step_.processes().data, &tensor = step_.processes().tensor;
  bool has_given_up = false;
  for (int64_t first = 0; first < n; first += most) {
    if (first / most % data.size() != data.rank()) continue;
    has_given_up = !tensor.is_alone() && step_.is_due != nullptr &&
                   run::in_any(tensor.communicator(), step_.is_due());
    if (has_given_up) break;
    const int64_t count = std::min(most, n - first);
    std::vector<int32_t> windows(static_cast<size_t>(count * (length + 1)));
    for (int64_t i = 0; i < count; ++i)
      tokens.copy(begins[n == 1 ? 0 : last / (n - 1) * (first + i)], length + 1,
                  windows.data() + i * (length + 1));
    try {
      const std::vector<double> own = losses_of(windows, first);
      std::copy(own.begin(), own.end(), losses.begin() + first);
    } catch (const Interrupted&) {
      has_given_up = true;
      break;
    }
  }
  if (run::in_any(group().communicator(), has_given_up))
    fail<Interrupted>("train", "stopped on request in the middle of a validation");
  data.communicator().sum(losses);  // zeros but for one process
  return losses;
}

std::vector<double> Trainer::losses_of(const std::vector<int32_t>& windows, int64_t first) const {
  const int64_t length = config_.train_len(),
                count = static_cast<int64_t>(windows.size()) / (length + 1);
  const auto window = [&](int64_t i) {
    return std::span(windows).subspan(static_cast<size_t>(i * (length + 1)),
                                      static_cast<size_t>(length + 1));
  };
  const auto tensor = [&](const std::vector<int32_t>& of, const Shape& shape) {
    return Tensor::from(of, shape, config_.device);
  };
  Tensor nll;
  if (config_.is_masked()) {
    data::MaskedRows rows;  // the same for every run
    for (int64_t i = 0; i < count; ++i)
      rows.add(window(i).first(static_cast<size_t>(length)), masking_,
               data::masking_random(0, "validation", first + i));
    const Shape chosen{static_cast<int64_t>(rows.places.size())};
    nll = model().nll_at(tensor(rows.ids, {count, length}), tensor(rows.places, chosen),
                         tensor(rows.targets, chosen));
  } else {
    std::vector<int32_t> ids, targets;
    for (int64_t i = 0; i < count; ++i) {
      ids.insert(ids.end(), window(i).begin(), window(i).end() - 1);
      targets.insert(targets.end(), window(i).begin() + 1, window(i).end());
    }
    nll = model().nll(tensor(ids, {count, length}), tensor(targets, {count, length}));
  }
  const std::vector<double> values = nll.to_vector();
  const size_t each = values.size() / static_cast<size_t>(count);
  std::vector<double> losses(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) losses[i / each] += values[i];
  return losses;
}

run::TrainState Trainer::state() const {
  return {.step = done_,
          .tokens = tokens_,
          .optimizer_t = step_.t(),
          .time_s = time_s_,
          .skipped = {left_out_.begin(), left_out_.end()},
          .data_hash = data_hash_,
          .config = run::identity(config_.settings)};
}

int64_t Trainer::n_parameter() const { return n_element(model().parameters()); }
int64_t Trainer::n_trained() const { return n_element(step_.parameters()); }

run::NamedTensors Trainer::model_tensors() const {
  run::NamedTensors tensors;
  for (const Parameter& p : step_.parameters()) tensors.emplace_back(p.name, p.value);
  const ProcessGrid& processes = step_.processes();
  return processes.data.is_first() ? gather_whole(tensors, step_.parameters(), processes.tensor)
                                   : tensors;
}

}  // namespace farfield::train
