#pragma once

#include <cstdint>

#include "data/loader.h"
#include "engine/base/background.h"

namespace farfield::data {

/// The batches of a loader, each read in the background during the work on the batch before.
class Prefetcher {
 public:
  explicit Prefetcher(Loader loader) : loader_(std::move(loader)) {}

  /// Returns loader().batch(step), and begins to read step + 1 in the background. Throws the errors
  /// of batch().
  Batch take(int64_t step);
  /// Seconds that take() has waited so far.
  double waited_s() const { return waited_s_; }
  const Loader& loader() const { return loader_; }

 private:
  Loader loader_;
  int64_t next_step_ = -1;
  Batch next_;
  double waited_s_ = 0;
  Background background_;  // last: it is destroyed before the members that it writes to
};

}  // namespace farfield::data
