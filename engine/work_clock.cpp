#include "engine/work_clock.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/error.h"

namespace farfield {

thread_local WorkClock* WorkClock::of_thread = nullptr;

WorkClock::WorkClock() {
  require<Error>(of_thread == nullptr, "work clock", "expected one for each thread at a time");
  of_thread = this;
}

WorkClock::~WorkClock() { of_thread = nullptr; }

std::vector<WorkClock::Work> WorkClock::take() { return std::exchange(work_, {}); }

void WorkClock::Timing::begin() {
  if (clock_->depth_++ == 0) begin_ = std::chrono::steady_clock::now();
}

void WorkClock::Timing::end() {
  if (--clock_->depth_ > 0) return;
  std::vector<Work>& all = clock_->work_;
  auto own = std::find_if(all.begin(), all.end(), [&](const Work& work) {
    return work.place.line == place_.line && std::string_view(work.place.file) == place_.file;
  });
  if (own == all.end()) own = all.insert(all.end(), {.place = place_});
  ++own->n_call;
  own->seconds += seconds_since(begin_);
}

}  // namespace farfield
