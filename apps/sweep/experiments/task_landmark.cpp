// Landmarks: a token behind each block that stands for it in a softmax by blocks.
// Mohtashami and Jaggi 2023, "Landmark Attention", arXiv:2305.16300, as the write-up on extending
// context retells it.

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

constexpr const char *kNoLandmarks = "Rotary", *kLandmarkSoftmax = "Rotary + landmarks",
                     *kLandmarkJumps = "Rotary + landmarks + jumps";
// Of 15 words and a landmark, at every scale: samples of a task are not rescaled.
constexpr const char *kLandmarkTask = "passkey(landmark=15)",
                     *kLandmarkPosenc = "rope + landmark(block=15)",
                     *kLandmarkJumpsPosenc =
                         "rope + landmark(block=15) + positional_jumps(p_jump=4, block=16)";

Arm landmark_arm(const char* label, const char* posenc) {
  Arm arm = on_task(arm_of(label, posenc, ""), kLandmarkTask);
  arm.task_lengths = "{0.25}..{1}";
  arm.is_scaled = false;
  return arm;
}

double keys_by_landmarks(const Measured& m, const char* arm, double length) {
  return m.value(arm, kAnswers, "exact_match", length);
}

void landmark_keys_in_range(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    e.at_least(concat(arm.label(), ": share of keys at L"),
               keys_by_landmarks(m, arm.label().c_str(), 1), 0.95);
}

void keys_by_landmark_jumps(const Measured& m, Evidence& e) {
  e.at_least(concat(kLandmarkJumps, ": share of keys at 4 L"),
             keys_by_landmarks(m, kLandmarkJumps, 4), 0.9);
  e.below(concat(kNoLandmarks, ": share of keys at 4 L"), keys_by_landmarks(m, kNoLandmarks, 4),
          0.3);
}

}  // namespace

std::vector<Experiment> task_landmark_rows() {
  Experiment e = of_tasks(
      805, "context/landmark", "do landmarks and jumps find a key far beyond the training length?",
      kContextWriteUp, {},
      {landmark_arm(kNoLandmarks, "rope"), landmark_arm(kLandmarkSoftmax, kLandmarkPosenc),
       landmark_arm(kLandmarkJumps, kLandmarkJumpsPosenc)});
  e.measures = {answers({1, 2, 4, 8}, 200)};
  e.outputs = {share_by_length("exact_match", "share of keys")};
  e.findings = {
      own_finding("context/landmark/in-range", landmark_keys_in_range,
                  "every model finds at least 95 percent of the keys at L"),
      own_finding("context/landmark/found", keys_by_landmark_jumps,
                  "with landmarks and jumps a rotary model finds at least 90 percent of the keys "
                  "at 4 L, without them less than 30 percent")};
  e.remarks = {
      "The write-up reports of the paper's models that perplexity falls up to 1400 tokens with "
      "positional jumps, and that a fine-tuned LLaMA 7B finds every key in 32K tokens.",
      "That model takes a few blocks out of a memory in a test, at positions that it was trained "
      "on. Here all tokens stay in the input, at their own positions.",
      "The task has a word LANDMARK after every 15 others, also for the model without the softmax "
      "by blocks. Training has lengths from a quarter of L to L."};
  return {e};
}

}  // namespace farfield::sweep
