#include "apps/train/trainee.h"

#include <algorithm>

#include "apps/analysis/timing.h"
#include "engine/autograd.h"
#include "engine/base/random.h"
#include "engine/device_info.h"
#include "engine/ops/pointwise.h"

namespace farfield::train {
namespace {

constexpr double kLr = 1e-4;

}  // namespace

std::vector<int32_t> made_up_tokens(int64_t n, int64_t vocab_size) {
  const Random random{1, stream_of("bench tokens")};
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(random.below(i, static_cast<uint64_t>(vocab_size)));
  return ids;
}

Trainee::Trainee(const ModelConfig& config, const StepShape& shape, DType dtype,
                 const Device& device, bool uses_graph)
    : shape_(shape),
      device_(device),
      before_(memory_stats(device).current_bytes),
      model_(config, /*seed=*/1, dtype, device),
      optimizer_(model_.parameters()),
      graph_(device) {
  require<ConfigError>(
      shape.batch_size >= 1 && shape.accumulate >= 1 && shape.batch_size % shape.accumulate == 0,
      "trainee", "expected a batch of sequences in equal pieces, got ", shape.batch_size, " in ",
      shape.accumulate);
  if (!uses_graph) graph_.turn_off("--cuda-graph is off");
  if (model_.is_random(posenc::Phase::train))
    graph_.turn_off("other positions or masks are drawn for each batch");
  model_.set_checkpointing(shape.checkpointing);
  own_bytes_ = memory_stats(device).current_bytes - before_;
  ids_ = Tensor::from(made_up_tokens(shape.batch_size * config.train_len, config.vocab_size),
                      {shape.batch_size, config.train_len}, device);
}

double Trainee::run() {
  const int64_t held = memory_stats(device_).current_bytes;
  reset_peak_memory(device_);
  synchronize(device_);
  const double time = analysis::seconds([&] {
    optimizer_.begin_update(kLr);
    graph_.run([this] {
      optimizer_.zero_grad();
      update(forward_backward());
    });
    synchronize(device_);
  });
  // What a recorded step uses is held from then on.
  peak_bytes_ = std::max(peak_bytes_, own_bytes_ + memory_stats(device_).peak_bytes - held);
  return time;
}

std::array<double, 3> Trainee::run_parts() {
  const auto part = [&](const auto& f) {
    synchronize(device_);
    return analysis::seconds([&] {
      f();
      synchronize(device_);
    });
  };
  Tensor loss;
  const double forward = part([&] { loss = model_.loss(ids_, ids_); });
  const double backward_ = part([&] { backward(loss); });
  return {forward, backward_, part([&] {
            optimizer_.begin_update(kLr);
            update(loss);
          })};
}

// The loss of the last piece, which stands for all where it is only looked at for being finite.
Tensor Trainee::forward_backward() {
  const Shape piece{shape_.batch_size / shape_.accumulate, ids_.dim(1)};
  Tensor loss;
  for (int64_t i = 0; i < shape_.accumulate; ++i) {
    const Tensor ids = ids_.view(piece, i * piece.numel());
    loss = model_.loss(ids, ids);
    backward(loss,
             Tensor::full({}, 1.0 / static_cast<double>(shape_.accumulate), loss.dtype(), device_));
  }
  return loss;
}

void Trainee::update(const Tensor& loss) {
  optimizer_.update({.loss = cast(loss.detach(), DType::f64),
                     .grad_norm = device_grad_norm(optimizer_.parameters()),
                     .max_norm = 1});
  optimizer_.zero_grad();
  model_.project();
}

}  // namespace farfield::train
