#include "apps/sweep/slope_arms.h"

#include <cmath>

#include "apps/sweep/arms.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

Arm swept(const char* group, const char* symbol, const char* name, double value,
          const std::string& posenc) {
  Arm arm = arm_of(concat(symbol, " = ", shortest(value)), posenc, "");
  arm.group = group;
  arm.param = concat(name, '=', shortest(value));
  arm.values = {{name, value}};
  return arm;
}

Arm equal(double h) {
  Arm arm = swept(kEqual, "h", "h", h, concat("alibi_equal(h=", h, ")"));
  arm.encoding = "alibi_equal";
  return arm;
}

template <class Make>
std::vector<Arm> arms_of(const std::vector<double>& values, const Make& make) {
  std::vector<Arm> arms;
  for (const double value : values) arms.push_back(make(value));
  return arms;
}

}  // namespace

Arm slope_shift(double delta) {
  Arm arm = swept(kShift, "δ", "delta", delta, concat("alibi_shift(delta=", delta, ")"));
  arm.encoding = "alibi_shift";
  return arm;
}

Arm window_of(double w, Arm::Scales scales) {
  Arm arm = swept(kWindow, "w", "w", w, concat("window(w=", w, ")"));
  arm.encoding = scales == Arm::Scales::shrunk ? "" : "window";
  arm.scales = scales;
  if (scales == Arm::Scales::shrunk) arm.meant_for = Scale::tiny;
  return arm;
}

std::vector<Arm> floored_slopes() {
  std::vector<Arm> arms = {floored_shift(6), floored_shift(8), floored_equal(8)};
  for (Arm& arm : arms) {
    arm.group = kFloored;
    arm.encoding = "";  // the printed numbers stand under the columns without a floor
    arm.scales = Arm::Scales::shrunk;
  }
  return arms;
}

std::vector<Arm> slope_shifts() { return arms_of({-3, 0, 2, 4, 6, 8}, slope_shift); }
std::vector<Arm> equal_slopes() { return arms_of({0, 2, 4, 6, 8}, equal); }
std::vector<Arm> windows() {
  std::vector<Arm> arms = arms_of({40, 80, 100, 120, 160, 320},
                                  [](double w) { return window_of(w, Arm::Scales::published); });
  for (Arm& arm : arms_of({4, 8, 12, 16, 24, 32, 48},
                          [](double w) { return window_of(w, Arm::Scales::shrunk); }))
    arms.push_back(std::move(arm));
  return arms;
}

double value_of(const PlannedArm& arm, const char* name) { return arm.arm.values.at(name); }

double erf(const Measured& m, const PlannedArm& arm) { return m.value(arm, "P6", "erf"); }
double unit(const Measured& m) { return static_cast<double>(tokens_of(m.scale(), 1)); }

void is_constant(const Measured& m, Evidence& e, const PlannedArm& arm, double tolerance) {
  const double ratio = m.ratio(arm, 16, 8);
  e.within(arm.label() + ": PPL 16 L / PPL 8 L", ratio, 1, tolerance);
  if (std::abs(ratio - 1) > tolerance && erf(m, arm) > 3.5 * unit(m))
    e.note(concat(arm.label(), " looks back over ", fixed(erf(m, arm), 0), " of ", 4 * unit(m) - 1,
                  " inputs, so nothing has ended its field by 8 L"));
}

}  // namespace farfield::sweep
