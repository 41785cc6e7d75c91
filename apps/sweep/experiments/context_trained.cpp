// The write-up on extending context: where a trained rotary model breaks down, and masks that act
// in the test alone.

#include "apps/sweep/context_arms.h"
#include "apps/sweep/evidence.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

void base_1(const Measured& m, Evidence& e) {
  const auto train_len = static_cast<double>(m.plan().tokens(1));
  const double breakdown = m.value(kUnchanged, kCoherence, "breakdown_position") / train_len;
  e.at_least("position of the breakdown, in L", breakdown, 1);
  e.at_most("position of the breakdown, in L", breakdown, m.pick(1.27, 2));
  e.at_least(concat(kFar, " / ", kNear), far(m, kUnchanged) / near(m, kUnchanged), 3);
}

Experiment baseline() {
  return intervention(610, "baseline", "where does a rotary model break down?", {},
                      {{.claim = "C-BASE-1",
                        .check = base_1,
                        .asked = "perplexity breaks down between 1 and 2 L, and from 2 to 4 L it "
                                 "is at least 3 times the value in range"}});
}

void temperature_2(const Measured& m, Evidence& e) { as_before(m, e, "temperature 2", 0.2); }

Experiment temperature() {
  return intervention(
      620, "temperature", "does a higher temperature of the softmax help?",
      {tested_with("temperature 2", "rope + kernel(weight=0.5)")},
      {own_finding("context/temperature/same", temperature_2,
                   "temperature 2 changes perplexity from 2 to 4 L by at most 20 percent")});
}

const std::vector<double> kTestWindows = {64, 128, 256, 512};  // of 512
std::string window_label(double w) { return concat("window of ", shortest(w / 512), " L"); }

void win_1(const Measured& m, Evidence& e) {
  e.at_least(concat(window_label(256), ": ", kFar, " / ", kNear, " without change"),
             far(m, window_label(256)) / near(m, kUnchanged), 1.25);
}

void window_is_flat(const Measured& m, Evidence& e) {
  for (const double w : {64.0, 128.0, 256.0})
    e.at_most(concat(window_label(w), ": ", kFar, " / ", kNear, " without change"),
              far(m, window_label(w)) / near(m, kUnchanged), 1.15);
}

Experiment window_mask() {
  std::vector<Arm> arms;
  for (const double w : kTestWindows)
    arms.push_back(tested_with(window_label(w), concat("rope + window(w=", w, ")")));
  arms.push_back(tested_with("window of 0.5 L and 4 sinks", "rope + window(w=256, sinks=4)"));
  Experiment e = intervention(
      630, "window-mask", "does a window keep a rotary model coherent?", std::move(arms),
      {{.claim = "C-WIN-1", .check = win_1, .asked = "with a window of half the training length"},
       own_finding("context/window-mask/flat", window_is_flat,
                   "windows of at most half the training length keep perplexity within 15 percent "
                   "of the value in range")});
  e.remarks = {
      "Every visible distance lies in the trained range. The write-up's report is of a "
      "model of 13 billion parameters, whose first tokens may act as attention sinks."};
  return e;
}

const std::vector<const char*> kClamps = {"-2", "0", "1"};
std::string clamp_label(const std::string& c) { return concat("logits below ", c, " masked"); }

void clamp_1(const Measured& m, Evidence& e) {
  for (const char* c : kClamps) as_before(m, e, clamp_label(c).c_str(), 0.1);
}

Experiment clamping() {
  std::vector<Arm> arms;
  for (const char* c : kClamps)
    arms.push_back(
        tested_with(clamp_label(c), concat("rope + logit_clamp(tau=", c, ", mode=absolute)")));
  return intervention(640, "clamping", "does it help to mask small logits?", std::move(arms),
                      {{.claim = "C-CLAMP-1",
                        .check = clamp_1,
                        .asked = "perplexity from 2 to 4 L changes by at most 10 percent"}});
}

}  // namespace

std::vector<Experiment> context_trained_rows() {
  return {baseline(), temperature(), window_mask(), clamping()};
}

}  // namespace farfield::sweep
