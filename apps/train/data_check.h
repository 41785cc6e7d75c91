#pragma once

#include <atomic>

#include "apps/run/training_data.h"
#include "engine/base/background.h"

namespace farfield::train {

/// Looks at every token of a run's corpora and compares the recorded hashes (Corpus::verify()),
/// beside the training: so a corpus of any size is open at once, and damage is still noticed before
/// a run is finished.
class DataCheck {
 public:
  explicit DataCheck(run::TrainingData data);
  /// Abandons an unfinished check.
  ~DataCheck();

  /// So little that the start of a run can wait for it: a fraction of a second.
  bool is_short() const;
  /// Throws the error found so far: IoError, naming the file. Does not wait.
  void report();
  /// Waits for the end of the check, and throws its error.
  void wait() { background_.wait(); }

 private:
  run::TrainingData data_;
  std::atomic<bool> is_over_ = false;
  Background background_;
};

}  // namespace farfield::train
