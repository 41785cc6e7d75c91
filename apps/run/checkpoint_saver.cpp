#include "apps/run/checkpoint_saver.h"

#include <utility>

#include "engine/base/clock.h"

namespace farfield::run {
namespace {

// As they are now, whatever becomes of them.
NamedTensors kept(NamedTensors tensors) {
  for (auto& [name, tensor] : tensors)
    if (tensor.device().kind != Device::Kind::cpu)
      tensor = tensor.to(Device{});
    else if (!tensor.is_sole_owner())
      tensor = tensor.clone();
  return tensors;
}

}  // namespace

CheckpointSaver::CheckpointSaver(std::filesystem::path folder, const KeptCheckpoints& keep,
                                 bool is_beside)
    : folder_(std::move(folder)), keep_(keep), is_beside_(is_beside) {}

void CheckpointSaver::save(TrainState state, NamedTensors model, NamedTensors optimizer,
                           std::function<void()> first, Clock::time_point begin) {
  wait();
  const auto write = [this, state = std::move(state), first = std::move(first)](
                         const NamedTensors& weights, const NamedTensors& moments) {
    const Clock::time_point write_begin = Clock::now();
    if (first) first();
    running_.bytes = save_checkpoint(folder_, state, weights, moments, keep_);
    running_.write_s = seconds_since(write_begin);
    running_.n = 1;
  };
  if (is_beside_)
    background_.start([write, weights = kept(std::move(model)),
                       moments = kept(std::move(optimizer))] { write(weights, moments); });
  else
    write(model, optimizer);
  figures_.waited_s += seconds_since(begin);
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
