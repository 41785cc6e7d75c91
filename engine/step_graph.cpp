#include "engine/step_graph.h"

#include "engine/dispatch.h"
#include "engine/kernels/record_work.h"

namespace farfield {

StepInputs::StepInputs(const Device& device) : device_(device) {
  dispatch(device_, [](auto tag) { set_step_inputs(tag, true); });
}
StepInputs::~StepInputs() {
  dispatch(device_, [](auto tag) { set_step_inputs(tag, false); });
}

StepGraph::StepGraph(const Device& device) : device_(device) {}
StepGraph::~StepGraph() = default;

void StepGraph::run(const std::function<void()>& work) {
  if (is_next_recorded()) {
    try {
      recording_ = dispatch(device_, [&](auto tag) { return record_work(tag, work); });
    } catch (const std::exception& error) {
      turn_off(error.what());
    }
  }
  if (recording_) return recording_->repeat();
  work();
  was_called_ = true;
}

void StepGraph::refill(const std::function<void()>& inputs, const std::string& why) {
  if (recording_ && !recording_->refill(inputs)) turn_off(why);
}

void StepGraph::forget() { recording_.reset(); }

int64_t StepGraph::n_nodes() const { return recording_ ? recording_->n_nodes() : 0; }

void StepGraph::turn_off(const std::string& why) {
  why_not_ = why;
  recording_.reset();
}

}  // namespace farfield
