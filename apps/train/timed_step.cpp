#include "apps/train/timed_step.h"

#include <algorithm>

#include "apps/analysis/timing.h"
#include "data/loader.h"
#include "engine/base/random.h"
#include "engine/device_info.h"
#include "engine/ops/pointwise.h"

namespace farfield::train {
namespace {

constexpr double kLr = 1e-4;
constexpr size_t kScoredEvery = 7;  // tokens, of an encoder: about 15 %

}  // namespace

std::vector<int32_t> made_up_tokens(int64_t n, int64_t vocab_size) {
  const Random random{1, stream_of("bench tokens")};
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(random.below(i, static_cast<uint64_t>(vocab_size)));
  return ids;
}

TimedStep::TimedStep(const ModelConfig& config, const StepShape& shape, DType dtype,
                     const Device& device, bool uses_graph, const ProcessGrid& processes)
    : device_(device),
      before_(memory_stats(device).current_bytes),
      step_(Transformer(config, /*seed=*/1, dtype, device, processes.tensor),
            {.shape = shape,
             .uses_graph = uses_graph,
             .has_answers = config.sees_later,
             .processes = processes}),
      own_bytes_(memory_stats(device).current_bytes - before_) {
  const int64_t n_sequence = step_.pieces().batch_size();
  const Tensor ids = Tensor::from(made_up_tokens(n_sequence * config.train_len, config.vocab_size),
                                  {n_sequence, config.train_len}, device);
  std::vector<int32_t> targets = made_up_tokens(ids.numel(), config.vocab_size);
  int64_t n_scored = 0;
  const auto train_len = static_cast<size_t>(config.train_len);
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!config.sees_later || i % train_len % kScoredEvery == 0)
      ++n_scored;
    else
      targets[i] = data::kNotScored;
  }
  step_.take(ids, Tensor::from(targets, ids.shape(), device), 0, n_scored * processes.data.size());
}

double TimedStep::run() {
  const int64_t held = memory_stats(device_).current_bytes;
  reset_peak_memory(device_);
  synchronize(device_);
  const double time = analysis::seconds([&] {
    step_.run(kLr);
    step_.clear_gradients();
    synchronize(device_);
  });
  // A recorded step keeps its memory from here on.
  peak_bytes_ = std::max(peak_bytes_, own_bytes_ + memory_stats(device_).peak_bytes - held);
  ++n_run_;
  run_s_ += time;
  return time;
}

std::array<double, 3> TimedStep::run_parts(const std::function<void(size_t part)>& after) {
  std::array<double, 3> seconds{};
  const auto add = [&](size_t part, const auto& f) {
    synchronize(device_);
    seconds[part] += analysis::seconds([&] {
      f();
      synchronize(device_);
    });
    if (after) after(part);
  };
  Tensor loss;
  TrainingStep::Sums sums = step_.sums();
  for (int64_t piece = 0; piece < step_.pieces().n; ++piece) {
    add(0, [&] { loss = step_.forward(piece); });
    add(1, [&] { step_.backward(loss, piece, sums); });
  }
  add(2, [&] { step_.update(kLr, cast(loss.detach(), DType::f64)); });
  step_.clear_gradients();
  return seconds;
}

}  // namespace farfield::train
