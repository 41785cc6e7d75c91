#include "apps/sweep/arms.h"

#include "apps/sweep/measured.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/registry.h"

namespace farfield::sweep {

Arm arm_of(const std::string& label, const std::string& posenc, const std::string& encoding) {
  Arm arm;
  arm.label = label;
  arm.posenc = posenc;
  arm.encoding = encoding;
  return arm;
}

Arm geometric_alibi() { return arm_of("ALiBi", "alibi_shift(delta=0)", "alibi"); }
Arm alibi() { return arm_of("ALiBi", "alibi", "alibi"); }
Arm sandwich() { return arm_of("Sandwich", "sandwich", "sandwich"); }
Arm smoothed() { return arm_of("Smoothed", "sandwich_smoothed", "sandwich_smoothed"); }
Arm sinusoidal() { return arm_of("Sinusoidal", "sinusoidal", "sinusoidal"); }
Arm rotary() { return arm_of("Rotary", "rope", "rope"); }
Arm t5() { return arm_of("T5", "t5", "t5"); }
Arm kerple_log() { return arm_of("KERPLE-log", "kerple_log", "kerple_log"); }
Arm kerple_power() { return arm_of("KERPLE-power", "kerple_power", "kerple_power"); }
Arm kerple_log3() { return arm_of("3-para-log", "kerple_log3", "kerple_log3"); }
Arm bias_wht() { return arm_of("bias+wht", "bias_wht", "bias_wht"); }
Arm gauss_wht1() { return arm_of("1-para-wht", "gauss_wht1", "gauss_wht1"); }
Arm gauss_wht2() { return arm_of("2-para-wht", "gauss_wht2", "gauss_wht2"); }
Arm gauss_bias2() { return arm_of("2-para-bias", "gauss_bias2", "gauss_bias2"); }
Arm gauss_bias3() { return arm_of("3-para-bias", "gauss_bias3", "gauss_bias3"); }

namespace {

Arm floored(const char* symbol, const char* name, const std::string& encoding, double value) {
  Arm arm =
      arm_of(concat(symbol, " = ", shortest(value), ", floor 0.01"),
             concat(encoding, '(', name, '=', shortest(value), ", slope_floor=0.01)"), encoding);
  arm.param = concat(name, '=', shortest(value));
  return arm;
}

}  // namespace

Arm floored_shift(double delta) { return floored("δ", "delta", "alibi_shift", delta); }
Arm floored_equal(double h) { return floored("h", "h", "alibi_equal", h); }

std::string trained_at(double length) { return "trained at " + length_text(length); }

std::vector<Arm> compared_arms() {
  std::vector<Arm> arms;
  for (const posenc::Row& row : posenc::registry()) {
    if (!row.is_compared) continue;
    const posenc::Comparison of = posenc::comparison_of(row);
    Arm& arm = arms.emplace_back();
    arm.label = arm.encoding = row.name;
    arm.group = posenc::family_of(row);
    arm.posenc = of.trained;
    arm.measured_posenc = of.measured;
  }
  return arms;
}

Measure last_token() {
  return {.key = "P1", .protocol = "last-token", .lengths = {1, 2, 4, 8, 16}};
}

Measure gradient() { return {.key = "P6", .protocol = "gradient", .lengths = {4}}; }

Output cumulative_gradient() {
  return {.form = Output::Form::series,
          .measure = "P6",
          .quantity = "cumulative gradient",
          .caption = "share of the gradient from a position on to the end",
          .is_log_x = false,
          .may_log_y = false,
          .marked_y = 0.99,
          .marked_y_label = "0.99: receptive field",
          .marks_last_length = true};
}

bool is_of(const PrintedNumber& number, const Arm& arm) {
  const std::string train_len = std::to_string(tokens_of(Scale::paper, arm.train_len));
  return !arm.encoding.empty() && number.encoding == arm.encoding &&
         (number.train_len.empty() || number.train_len == train_len) &&
         (arm.variant.empty() || number.variant == arm.variant) &&
         (arm.param.empty() || number.param == arm.param);
}

}  // namespace farfield::sweep
