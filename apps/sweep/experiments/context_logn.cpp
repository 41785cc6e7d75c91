// The write-up on extending context: logits scaled by the logarithm of the length.

#include <algorithm>
#include <cmath>

#include "apps/sweep/context_arms.h"
#include "apps/sweep/evidence.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char *kTunedLogN = "log n, 80 steps at 1.5 L", *kTuned = "80 steps at 1.5 L";

void logn_1(const Measured& m, Evidence& e) {
  e.at_most("log n without training: PPL from 1 to 1.25 L / without change",
            region(m, kLogN, "1_to_1.25") / region(m, kUnchanged, "1_to_1.25"), m.pick(0.9, 1.02));
  e.at_least(concat("log n without training: ", kFar, " / ", kNear), far(m, kLogN) / near(m, kLogN),
             1.25);
}

void logn_tuned(const Measured& m, Evidence& e) {
  e.at_most("after 80 steps at 1.5 L: PPL from 1.25 to 1.5 L / without log n",
            region(m, kTunedLogN, "1.25_to_1.5") / region(m, kTuned, "1.25_to_1.5"), 1.02);
}

Experiment logn() {
  return intervention(
      710, "logn", "does it help to scale logits by the logarithm of the length?",
      {tested_with(kLogN, "rope + log_n"), fine_tuned(kTuned, "rope", 80, "1:{1.5}"),
       fine_tuned(kTunedLogN, "rope + log_n(mode=clipped)", 80, "1:{1.5}")},
      {{.claim = "C-LOGN-1",
        .check = logn_1,
        .asked = "just beyond L not worse, and from 2 to 4 L still above 1.25 times the value in "
                 "range"},
       own_finding("context/logn/tuned", logn_tuned,
                   "after a fine-tune at 1.5 L log n scaling is not worse than without, up to 2 "
                   "percent")});
}

constexpr const char *kShiftedLogN = "log n, shifted", *kShifted = "shifted",
                     *kLastBucket = "log n, last quarter alone", *kPlainLogN = "log n, no training";
constexpr int kBuckets = 4;  // of L positions each

std::string in_bucket(const char* what, int bucket) {
  return concat(what, ", read from ", bucket, " L on");
}

// Fine-tunes on L tokens whose positions begin elsewhere in each step, read in one place.
Arm shifted(const char* what, const std::string& remap, const std::string& scaling, int bucket) {
  Arm arm = fine_tuned(in_bucket(what, bucket), concat("rope + ", remap, scaling), 80, "1:{1}");
  arm.measured_posenc = concat("rope + shape(k=1, eval_shift=", 512 * bucket, ')', scaling);
  return arm;
}

double loss_in(const Measured& m, const std::string& arm) { return std::log(near(m, arm)); }

void ls_1(const Measured& m, Evidence& e) {
  double most = 0;
  for (int bucket = 0; bucket + 1 < kBuckets; ++bucket)
    most = std::max(most, loss_in(m, in_bucket(kShiftedLogN, bucket)));
  e.below("largest loss below 3 L / before the fine-tune", most / loss_in(m, kPlainLogN), 1);
  e.at_least("loss from 3 L on / largest loss below",
             loss_in(m, in_bucket(kShiftedLogN, kBuckets - 1)) / most, 2);
}

void shifted_is_flat(const Measured& m, Evidence& e) {
  for (const char* what : {kShiftedLogN, kShifted})
    for (int bucket = 1; bucket < kBuckets; ++bucket)
      e.within(concat(what, ": loss from ", bucket, " L on / from 0 on"),
               loss_in(m, in_bucket(what, bucket)) / loss_in(m, in_bucket(what, 0)), 1, 0.01);
}

Experiment logn_shifted() {
  const std::string log_n = " + log_n(mode=unclipped)", around = "shifted(step=512, span=2048)";
  std::vector<Arm> arms = {tested_with(kPlainLogN, "rope" + log_n)};
  for (int bucket = 0; bucket < kBuckets; ++bucket)
    arms.push_back(shifted(kShiftedLogN, around, log_n, bucket));
  for (int bucket = 0; bucket < kBuckets; ++bucket)
    arms.push_back(shifted(kShifted, around, "", bucket));
  arms.push_back(
      shifted(kLastBucket, "shifted(step=0, span=2048, offset=1536)", log_n, kBuckets - 1));
  Experiment e = intervention(
      715, "logn-shifted", "do shifted positions and log n scaling together reach further?",
      std::move(arms),
      {{.claim = "C-LS-1", .check = ls_1},
       own_finding("context/logn-shifted/flat", shifted_is_flat,
                   "after a fine-tune on shifted positions the loss from 0.75 to 1 L is the same "
                   "wherever the positions begin, within 1 percent, with log n scaling and "
                   "without")});
  e.remarks = {
      "A sequence of a fine-tune has L tokens, and its positions begin L further on in each step, "
      "modulo 4 L. Rotary scores depend on differences of positions alone. Log n scaling counts "
      "the keys that a query sees, at most L here; the write-up's code may have counted positions "
      "instead."};
  return e;
}

}  // namespace

std::vector<Experiment> context_logn_rows() { return {logn(), logn_shifted()}; }

}  // namespace farfield::sweep
