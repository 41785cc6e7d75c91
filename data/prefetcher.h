#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "data/loader.h"
#include "engine/base/background.h"

namespace farfield::data {

/// The batch of a step: Loader::batch() or TaskBatches::batch().
using BatchOf = std::function<Batch(int64_t step)>;

/// Batches that are each read in the background during the work on the batch before.
class Prefetcher {
 public:
  explicit Prefetcher(BatchOf batch_of) : batch_of_(std::move(batch_of)) {}
  explicit Prefetcher(Loader loader)
      : batch_of_([loader = std::move(loader)](int64_t step) { return loader.batch(step); }) {}

  /// Returns the batch of a step, and begins to read step + 1 in the background. Throws the errors
  /// of the source.
  Batch take(int64_t step);
  /// Seconds that take() has waited so far.
  double waited_s() const { return waited_s_; }

 private:
  BatchOf batch_of_;
  int64_t next_step_ = -1;
  Batch next_;
  double waited_s_ = 0;
  Background background_;  // last: it is destroyed before the members that it writes to
};

}  // namespace farfield::data
