#include "apps/run/checkpoint_saver.h"

#include <chrono>
#include <utility>

#include "engine/base/clock.h"

namespace farfield::run {
namespace {

using Clock = std::chrono::steady_clock;

NamedTensors copied(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, tensor] : tensors)
    copies.emplace_back(
        name, tensor.device().kind == Device::Kind::cpu ? tensor.clone() : tensor.to(Device{}));
  return copies;
}

}  // namespace

CheckpointSaver::CheckpointSaver(std::filesystem::path folder, const KeptCheckpoints& keep,
                                 bool is_beside)
    : folder_(std::move(folder)), keep_(keep), is_beside_(is_beside) {}

void CheckpointSaver::save(TrainState state, const NamedTensors& model,
                           const NamedTensors& optimizer, std::function<void()> first) {
  const Clock::time_point start = Clock::now();
  wait();
  const auto write = [this, state = std::move(state), first = std::move(first)](
                         const NamedTensors& weights, const NamedTensors& moments) {
    const Clock::time_point begin = Clock::now();
    if (first) first();
    running_.bytes = save_checkpoint(folder_, state, weights, moments, keep_);
    running_.write_s = seconds_since(begin);
    running_.n = 1;
  };
  if (is_beside_)
    background_.start(
        [write, weights = copied(model), moments = copied(optimizer)] { write(weights, moments); });
  else
    write(model, optimizer);
  figures_.waited_s += seconds_since(start);
}

void CheckpointSaver::report() {
  if (background_.is_done()) wait();
}

void CheckpointSaver::wait() {
  background_.wait();
  figures_.n += running_.n;
  figures_.write_s += running_.write_s;
  figures_.bytes += running_.bytes;
  running_ = {};
}

SaveFigures CheckpointSaver::take_figures() {
  if (background_.is_done()) wait();
  return std::exchange(figures_, {});
}

}  // namespace farfield::run
