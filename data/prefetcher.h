#pragma once

#include <cstdint>

#include "data/loader.h"
#include "engine/base/background.h"

namespace farfield::data {

/// The batches of a loader, each read beside the work on the one before it.
class Prefetcher {
 public:
  explicit Prefetcher(Loader loader) : loader_(std::move(loader)) {}

  /// loader().batch(step); from then on step + 1 is being read. Throws what that throws.
  Batch take(int64_t step);
  /// Seconds that take() has waited so far.
  double waited_s() const { return waited_s_; }
  const Loader& loader() const { return loader_; }

 private:
  Loader loader_;
  int64_t next_step_ = -1;
  Batch next_;
  double waited_s_ = 0;
  Background background_;  // last: it ends before what it writes to
};

}  // namespace farfield::data
