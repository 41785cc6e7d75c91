#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "apps/run/checkpoint.h"
#include "engine/base/background.h"

namespace farfield::run {

/// Figures of the saves.
struct SaveFigures {
  int64_t n = 0;        ///< checkpoints
  double waited_s = 0;  ///< until save() returned: the copy, and the end of the save before
  double write_s = 0;   ///< until all was on the disk
  int64_t bytes = 0;    ///< of their files
};

/// Saves checkpoints beside the training: save() copies the tensors to host memory and returns, and
/// a thread of its own writes them. One at a time.
class CheckpointSaver {
 public:
  using Clock = std::chrono::steady_clock;

  /// is_beside  false: save() writes them itself, and nothing is copied
  CheckpointSaver(std::filesystem::path folder, const KeptCheckpoints& keep, bool is_beside);
  /// Waits for the end; what goes wrong then is lost.
  ~CheckpointSaver() = default;

  /// As save_checkpoint(); `first`, if any, is called before it, by the thread that writes. Waits
  /// for the previous save, and throws its error: this save is then not begun. Tensors on the host
  /// without another owner are taken over, not copied.
  ///
  /// begin  when the training stopped for it, to collect the tensors
  void save(TrainState state, NamedTensors model, NamedTensors optimizer,
            std::function<void()> first = {}, Clock::time_point begin = Clock::now());
  /// Throws the error of the latest save, if it is known by now. Does not wait.
  void report();
  /// Waits until the latest save is on the disk. Throws its error.
  void wait();

  /// Of the checkpoints that were finished since the last call of this.
  SaveFigures take_figures();

 private:
  std::filesystem::path folder_;
  KeptCheckpoints keep_;
  bool is_beside_;
  SaveFigures figures_, running_;  // of those known to be finished; of the one that is written
  Background background_;          // the last member: its thread uses the others
};

}  // namespace farfield::run
