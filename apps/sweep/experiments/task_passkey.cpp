// Pass keys: three digits hidden between words, asked for at the end. A small form of the test of
// Mohtashami and Jaggi 2023, "Landmark Attention", arXiv:2305.16300.

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

constexpr const char *kKeyModels = "models as trained", *kChangedKeys = "rotary models, changed",
                     *kTunedQuarter = "Rotary positions / 4 tuned", *kWindowed = "Rotary + window";

Arm passkey_arm(Arm arm, const char* group = kKeyModels) {
  const std::string label = arm.label;
  arm = on_task(arm, "passkey", group);
  arm.label = label;
  arm.task_lengths = "{0.25}..{1}";
  return arm;
}

Arm tested_under(const char* label, const char* posenc) {
  Arm arm = passkey_arm(rotary(), kChangedKeys);
  arm.label = label;
  arm.encoding.clear();
  arm.measured_posenc = posenc;
  return arm;
}

// A tenth of the steps, at L to 4 L.
Arm passkey_tuned(const char* label, const char* posenc) {
  Arm arm = passkey_arm(arm_of(label, posenc, ""), kChangedKeys);
  arm.starts_from = rotary().label;
  arm.task_lengths = "{1}..{4}";
  arm.train_len = 4;
  arm.steps = 0.1;
  return arm;
}

double keys_found(const Measured& m, const std::string& arm, double length) {
  return m.value(arm, kAnswers, "exact_match", length);
}

void found_in_range(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms(kKeyModels))
    e.at_least(concat(arm->label(), ": share of keys at L"), keys_found(m, arm->label(), 1), 0.95);
}

void lost_beyond(const Measured& m, Evidence& e) {
  for (const char* arm : {"Rotary", "Sinusoidal"})
    e.below(concat(arm, ": share of keys at 4 L"), keys_found(m, arm, 4), 0.3);
}

void found_again(const Measured& m, Evidence& e) {
  e.at_least(concat(kTunedQuarter, ": share of keys at 4 L"), keys_found(m, kTunedQuarter, 4), 0.9);
}

// At 8 L the key lies in the last tenth, or in the first half.
void lost_beyond_reach(const Measured& m, Evidence& e) {
  for (const char* label : {"ALiBi", kWindowed}) {
    const PlannedArm* const arm = m.arm(label);
    if (arm == nullptr) continue;
    const eval::Series places = m.series(*arm, kAnswers, "exact match by place", 8);
    e.below(concat(label, ": share of keys at 8 L, in the first half - in the last tenth"),
            mean_between(places, 0, 0.5) - mean_between(places, 0.9, 1), 0);
  }
}

}  // namespace

std::vector<Experiment> task_passkey_rows() {
  Experiment e =
      of_tasks(800, "context/passkey", "which models find a key far beyond their training length?",
               kContextWriteUp, {},
               {passkey_arm(rotary()), passkey_arm(sinusoidal()), passkey_arm(alibi()),
                passkey_arm(sandwich()), passkey_arm(kerple_log()), passkey_arm(t5()),
                passkey_arm(arm_of(kWindowed, "rope + window(w=256)", "")),
                passkey_arm(arm_of("Rotary + log n", "rope + log_n", "")),
                tested_under("Rotary positions / 4", "rope + interpolation(scale=4)"),
                tested_under("Rotary modulo L", "rope + modulo(length=512)"),
                tested_under("Rotary each position 4 times", "rope + block_repeat(repeat=4)"),
                passkey_tuned("Rotary tuned", "rope"),
                passkey_tuned(kTunedQuarter, "rope + interpolation(scale=4)")});
  e.measures = {answers({1, 2, 4, 8}, 200)};
  for (const char* group : {kKeyModels, kChangedKeys})
    e.outputs.push_back(
        share_by_length("exact_match", concat("share of keys (", group, ")"), {group}));
  Output places = {.form = Output::Form::series,
                   .measure = kAnswers,
                   .quantity = "exact match by place",
                   .caption = "share of keys at 8 L by their place",
                   .is_log_x = false,
                   .may_log_y = false,
                   .groups = {kKeyModels}};
  e.outputs.push_back(places);
  e.findings = {
      own_finding("context/passkey/in-range", found_in_range,
                  "every model finds at least 95 percent of the keys at L"),
      own_finding("context/passkey/beyond", lost_beyond,
                  "rotary and sinusoidal models find less than 30 percent at 4 L"),
      own_finding("context/passkey/interpolated", found_again,
                  "interpolated positions and a short fine-tune restore 90 percent at 4 L"),
      own_finding("context/passkey/reach", lost_beyond_reach,
                  "models with ALiBi or a window find keys near the end of 8 L and miss those far "
                  "from it")};
  e.remarks = {
      "A key counts if all three digits are right; chance is 0.001. Training has lengths from a "
      "quarter of L to L. A fine-tune has a tenth of the steps, at L to 4 L."};
  return {e};
}

}  // namespace farfield::sweep
