// Slopes and windows: tables 1, 2 and 4 of the Sandwich paper, and the fields of their models in
// figures 4, 5, 12 and 13.

#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/run/resolved_config.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/reference.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char *kShift = "slope shift", *kEqual = "equal slopes", *kWindow = "window",
                     *kFloored = "no slope below 0.01";

Arm swept(const char* group, const char* symbol, const char* name, double value,
          const std::string& posenc) {
  Arm arm = arm_of(concat(symbol, " = ", shortest(value)), posenc, "");
  arm.group = group;
  arm.param = concat(name, '=', shortest(value));
  arm.values = {{name, value}};
  return arm;
}

Arm shift(double delta) {
  Arm arm = swept(kShift, "δ", "delta", delta, concat("alibi_shift(delta=", delta, ")"));
  arm.encoding = "alibi_shift";
  return arm;
}

Arm equal(double h) {
  Arm arm = swept(kEqual, "h", "h", h, concat("alibi_equal(h=", h, ")"));
  arm.encoding = "alibi_equal";
  return arm;
}

// A window's field over L depends on the depth, so at 4 layers others are looked at:
// experiments.md 2.5.
Arm window(double w, Arm::Scales scales) {
  Arm arm = swept(kWindow, "w", "w", w, concat("window(w=", w, ")"));
  arm.encoding = scales == Arm::Scales::shrunk ? "" : "window";
  arm.scales = scales;
  if (scales == Arm::Scales::shrunk) arm.meant_for = Scale::tiny;
  return arm;
}

// As the paper's models of these columns most likely were: truth/slope-floor.
std::vector<Arm> floored() {
  std::vector<Arm> arms = {floored_shift(6), floored_shift(8), floored_equal(8)};
  for (Arm& arm : arms) {
    arm.group = kFloored;
    arm.encoding = "";  // the printed numbers stand under the columns without a floor
    arm.scales = Arm::Scales::shrunk;
  }
  return arms;
}

template <class Make>
std::vector<Arm> arms_of(const std::vector<double>& values, const Make& make) {
  std::vector<Arm> arms;
  for (const double value : values) arms.push_back(make(value));
  return arms;
}

std::vector<Arm> shifts() { return arms_of({-3, 0, 2, 4, 6, 8}, shift); }
std::vector<Arm> equals() { return arms_of({0, 2, 4, 6, 8}, equal); }
std::vector<Arm> windows() {
  std::vector<Arm> arms = arms_of({40, 80, 100, 120, 160, 320},
                                  [](double w) { return window(w, Arm::Scales::published); });
  for (Arm& arm :
       arms_of({4, 8, 12, 16, 24, 32, 48}, [](double w) { return window(w, Arm::Scales::shrunk); }))
    arms.push_back(std::move(arm));
  return arms;
}

std::vector<Arm> operator+(std::vector<Arm> a, const std::vector<Arm>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

double value_of(const PlannedArm& arm, const char* name) { return arm.arm.values.at(name); }

// In tokens, of this scale.
double erf(const Measured& m, const PlannedArm& arm) { return m.value(arm, "P6", "erf"); }
double unit(const Measured& m) { return static_cast<double>(tokens_of(m.scale(), 1)); }

// The six windows of the paper, by what figure 4 says of their fields; at smaller scales by what
// they measure, where a field within a tenth of L is at the boundary and counts as neither.
enum class Field { shorter, at_boundary, longer };
Field field_of(const Measured& m, const PlannedArm& arm) {
  if (m.scale() == Scale::paper) return value_of(arm, "w") <= 100 ? Field::shorter : Field::longer;
  const double boundary = m.is_published() ? 0 : 0.1, field = erf(m, arm) / unit(m);
  return field <= 1 - boundary  ? Field::shorter
         : field > 1 + boundary ? Field::longer
                                : Field::at_boundary;
}

void field_known(const Measured& m, Evidence& e, const PlannedArm& arm) {
  if (m.scale() != Scale::paper && std::isnan(erf(m, arm))) e.missing(arm.label() + ": ERF");
}

void s_t1_1(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms(kWindow)) {
    field_known(m, e, *arm);
    if (field_of(m, *arm) == Field::shorter)
      e.within(arm->label() + ": PPL 16 L / PPL L", m.ratio(*arm, 16), 1, 0.01);
  }
}

void s_t1_2(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms(kWindow)) {
    field_known(m, e, *arm);
    const Field field = field_of(m, *arm);
    const double ratio = m.ratio(*arm, 2), share = m.value(*arm, "P6", "recent_share");
    if (field == Field::longer)
      e.at_least(arm->label() + ": PPL 2 L / PPL L", ratio, m.pick(1.3, 1.05));
    else if (field == Field::at_boundary && std::isfinite(ratio))
      e.note(concat(arm->label(), " looks back over ", fixed(erf(m, *arm), 0),
                    " inputs, at the boundary, with ", fixed(100 * share, 1),
                    " % of its gradient on the last L: PPL 2 L / PPL L = ", fixed(ratio, 3)));
  }
}

// `of` falls, or does not decrease, from one arm to the next.
void falls(const std::vector<const PlannedArm*>& arms, const std::string& what, Evidence& e,
           const std::function<double(const PlannedArm&)>& of) {
  for (size_t i = 1; i < arms.size(); ++i)
    e.below(concat(what, ", ", arms[i]->label(), " over ", arms[i - 1]->label()),
            of(*arms[i]) / of(*arms[i - 1]), 1);
}
void does_not_decrease(const std::vector<const PlannedArm*>& arms, const std::string& what,
                       Evidence& e, const std::function<double(const PlannedArm&)>& of,
                       double tolerance) {
  for (size_t i = 1; i < arms.size(); ++i)
    e.at_least(concat(what, ", ", arms[i]->label(), " over ", arms[i - 1]->label()),
               of(*arms[i]) / of(*arms[i - 1]), 1 - tolerance);
}

void s_t1_3(const Measured& m, Evidence& e) {
  falls(m.arms(kWindow), "PPL L", e, [&](const PlannedArm& a) { return m.perplexity(a, 1); });
}

// The models of this size with and without the floor of the paper's, where both are measured.
void note_floor(const Measured& m, Evidence& e) {
  const PlannedArm* const without = m.arm("δ = 8");
  for (const PlannedArm* with : m.arms(kFloored))
    if (with->label().rfind("δ = 8", 0) == 0 &&
        std::isfinite(m.ratio(*with, 16) * m.ratio(*without, 16)))
      e.note(concat(
          "the paper's columns of δ = 6, δ = 8 and h = 8 are one model, with no slope below "
          "0.01; there it explodes at 2 L and then stays level. Here δ = 8 has PPL 16 L / "
          "PPL L = ",
          fixed(m.ratio(*with, 16), 3), " and PPL 16 L / PPL 8 L = ",
          fixed(m.ratio(*with, 16, 8), 3), " with that floor, ", fixed(m.ratio(*without, 16), 3),
          " and ", fixed(m.ratio(*without, 16, 8), 3), " without"));
}

// The model of a column: with the floor where the scale has it.
const PlannedArm& as_in_paper(const Measured& m, const PlannedArm& arm) {
  for (const PlannedArm* floored : m.arms(kFloored))
    if (floored->label().rfind(arm.label() + ',', 0) == 0) return *floored;
  return arm;
}

// The column of an arm ends level.
void is_constant(const Measured& m, Evidence& e, const PlannedArm& arm, double tolerance) {
  const double ratio = m.ratio(arm, 16, 8);
  e.within(arm.label() + ": PPL 16 L / PPL 8 L", ratio, 1, tolerance);
  if (std::abs(ratio - 1) > tolerance && erf(m, arm) > 3.5 * unit(m))
    e.note(concat(arm.label(), " looks back over ", fixed(erf(m, arm), 0), " of ", 4 * unit(m) - 1,
                  " inputs, so nothing has ended its field by 8 L"));
}

void s_t1_4(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    if (arm.arm.group != kFloored) is_constant(m, e, as_in_paper(m, arm), 0.005);
  note_floor(m, e);
}

void s_t1_5(const Measured& m, Evidence& e) {
  e.above("δ = 0: PPL 2 L / PPL L", m.ratio("δ = 0", 2), 1);
  for (const double length : {8.0, 16.0})
    e.within(concat("δ = 0: PPL ", length_text(length), " / PPL 4 L"), m.ratio("δ = 0", length, 4),
             1, 0.005);
}

// As printed: of the model with the floor where the scale has it. Below `small` of the model
// without, since the other does not explode.
void s_t1_6(const Measured& m, Evidence& e) {
  for (const char* label : {"δ = 6", "δ = 8"}) {
    const PlannedArm& arm = *m.arm(label);
    if (m.is_published())
      e.at_least(concat(as_in_paper(m, arm).label(), ": PPL 2 L / PPL L"),
                 m.ratio(as_in_paper(m, arm), 2), 9);
    else
      e.at_least(concat(label, ": PPL 8 L / PPL L"), m.ratio(arm, 8), 1.15);
  }
  note_floor(m, e);
}

void s_t1_7(const Measured& m, Evidence& e) {
  e.within("δ = -3: PPL 16 L / PPL 2 L", m.ratio("δ = -3", 16, 2), 1, 0.005);
}

// Monotone means up to the rounding of the printed numbers at paper scale, 2 % below it.
void s_t1_8(const Measured& m, Evidence& e) {
  does_not_decrease(
      m.arms(kEqual), "PPL 16 L / PPL L", e, [&](const PlannedArm& a) { return m.ratio(a, 16); },
      m.pick(0, 0.02));
}

void s_t1_9(const Measured& m, Evidence& e) {
  for (const char* arm : {"h = 0", "h = 2"})
    e.within(concat(arm, ": PPL 16 L / PPL L"), m.ratio(arm, 16), 1, 0.1);
  for (const char* arm : {"h = 6", "h = 8"})
    e.at_least(concat(arm, ": PPL 16 L / PPL L"), m.ratio(arm, 16), 5);
}

void s_t1_10(const Measured& m, Evidence& e) {
  std::vector<const PlannedArm*> arms = m.arms(kShift);
  std::erase_if(arms, [](const PlannedArm* arm) { return value_of(*arm, "delta") < 0; });
  does_not_decrease(
      arms, "PPL 16 L / PPL L", e, [&](const PlannedArm& a) { return m.ratio(a, 16); },
      m.pick(0, 0.02));
}

// Checks the printed numbers; truth/slope-floor measures the explanation.
void s_t1_11(const Measured& m, Evidence& e) {
  const std::vector<PrintedNumber> all = printed_numbers_of(m.experiment().reference);
  for (const PrintedNumber& number : all) {
    if (number.param != "delta=6") continue;
    for (const PrintedNumber& other : all)
      if (other.dataset == number.dataset && other.length == number.length &&
          (other.param == "delta=8" || other.param == "h=8"))
        e.within(concat("printed, ", other.dataset, ' ', other.length, ": ", other.param,
                        " against delta=6"),
                 std::stod(other.mean), std::stod(number.mean), 0);
  }
}

void windows_exact(const Measured& m, Evidence& e) {
  const auto layers =
      static_cast<double>(run::resolve(training_of(m.scale(), Size::base)).model.n_layer);
  const double shorter =
      m.has_published_models() ? unit(m) / static_cast<double>(tokens_of(Scale::paper, 1)) : 1;
  for (const PlannedArm* arm : m.arms(kWindow))
    if ((shorter * value_of(*arm, "w") - 1) * layers + 1 <= unit(m) - 1)
      e.within(arm->label() + ": PPL 16 L / PPL L", m.ratio(*arm, 16), 1, 1e-5);
}

void flat_steep(const Measured& m, Evidence& e) {
  for (const char* arm : {"δ = -3", "δ = 0"})
    e.within(concat(arm, ": PPL 8 L / PPL L"), m.ratio(arm, 8), 1, 0.01);
}

// Of the model with the floor where the scale has it.
void s_t2_1(const Measured& m, Evidence& e) {
  const std::vector<const PlannedArm*> floored = m.arms(kFloored);
  for (const PlannedArm* arm : m.arms("repaired"))
    if (arm->arm.values.count("delta") == 0 || floored.empty()) is_constant(m, e, *arm, 0.01);
  for (const PlannedArm* arm : floored) is_constant(m, e, *arm, 0.01);
}

void s_t2_2(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms("repaired"))
    if (arm->arm.values.count("w") != 0)
      for (const double length : {8.0, 16.0})
        e.within(concat(arm->label(), ": PPL ", length_text(length), " / PPL 4 L"),
                 m.ratio(*arm, length, 4), 1, 0.01);
}

const PlannedArm* slope(const Measured& m, const char* group) {
  for (const PlannedArm* arm : m.arms(group))
    if (arm->arm.values.count("delta") != 0) return arm;
  return nullptr;
}

void s_t2_3(const Measured& m, Evidence& e) {
  const PlannedArm *repaired = slope(m, "repaired"), *failing = slope(m, "failing");
  e.above("δ = 6 at 16 L: PPL trained at L / PPL trained at 4 L",
          m.perplexity(*failing, 16) / m.perplexity(*repaired, 16), 10);
}

void s_t2_4(const Measured& m, Evidence& e) {
  e.within("δ = 6 trained at 4 L: PPL 8 L / PPL 4 L", m.ratio(*slope(m, "repaired"), 8, 4), 1,
           0.05);
}

void repair(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms("failing"))
    if (arm->arm.values.count("w") != 0)
      e.at_least(arm->label() + ": PPL 16 L / PPL L", m.ratio(*arm, 16), 1.05);
  for (const PlannedArm* arm : m.arms("repaired")) {
    if (arm->arm.values.count("w") == 0) continue;
    e.at_most(arm->label() + ": PPL 16 L / PPL 2 L", m.ratio(*arm, 16, 2), 1.01);
    e.at_most(arm->label() + ": ERF over its training length",
              erf(m, *arm) / (unit(m) * arm->arm.train_len), 1);
  }
}

void s_f4_1(const Measured& m, Evidence& e) {
  if (m.is_published() && !m.has_published_models())
    return e.note("its windows are those of 12 layers; smaller models have others");
  for (const PlannedArm* arm : m.arms(kWindow)) {
    const double w = value_of(*arm, "w");
    const bool is_below = m.is_published() ? w <= 100 : w <= 16;
    const bool is_beside = !m.is_published() && w == 24;  // at the boundary
    if (is_below)
      e.at_most(arm->label() + ": ERF / L", erf(m, *arm) / unit(m), 1);
    else if (!is_beside)
      e.above(arm->label() + ": ERF / L", erf(m, *arm) / unit(m), 1);
  }
}

void s_f4_2(const Measured& m, Evidence& e) {
  const std::vector<const PlannedArm*> arms = m.arms(kWindow);
  for (size_t i = 0; i < arms.size(); ++i) {
    e.at_most(arms[i]->label() + ": ERF", erf(m, *arms[i]), m.value(*arms[i], "P6", "trf_exact"));
    if (i > 0) e.above(arms[i]->label() + ": ERF", erf(m, *arms[i]), erf(m, *arms[i - 1]));
  }
}

// Below `small` one window beside the boundary may be on either side.
void s_f4_3(const Measured& m, Evidence& e) {
  const std::vector<const PlannedArm*> arms = m.arms(kWindow);
  const char* const what = "windows that are flat with a longer field, or rise with a shorter one";
  const auto is_longer = [&](const PlannedArm* arm) { return erf(m, *arm) > unit(m); };
  const auto boundary = std::find_if(arms.begin(), arms.end(), is_longer) - arms.begin();
  int n_exceptions = 0, n_far = 0;
  for (size_t i = 0; i < arms.size(); ++i) {
    const double field = erf(m, *arms[i]), rise = m.ratio(*arms[i], 16);
    if (std::isnan(field) || std::isnan(rise)) return e.missing(concat(what, ", elsewhere"));
    if ((field <= unit(m)) == (std::abs(rise - 1) <= 0.01)) continue;
    const auto place = static_cast<std::ptrdiff_t>(i);
    ++(place == boundary || place + 1 == boundary ? n_exceptions : n_far);
    e.note(concat(arms[i]->label(), ": ERF ", fixed(field, 0), " of L = ", unit(m),
                  ", PPL 16 L / PPL L = ", fixed(rise, 3)));
  }
  const int most = m.is_published() ? 0 : 1;
  e.holds(concat(what, ", beside the boundary"), n_exceptions <= most, n_exceptions,
          concat("at most ", most));
  e.holds(concat(what, ", elsewhere"), n_far == 0, n_far, "none");
}

// Below `small` the fields of the flatter slopes alone are long: a field grows with the depth.
void s_f5_1(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms(kShift)) {
    if (m.is_published() || value_of(*arm, "delta") >= 2)
      e.above(arm->label() + ": ERF / L", erf(m, *arm) / unit(m), m.pick(1, 3));
    if (arm->label() != "δ = -3")
      e.at_least(concat("ERF, ", arm->label(), " over δ = -3"),
                 erf(m, *arm) / m.value("δ = -3", "P6", "erf"), 1);
  }
}

const std::vector<Finding>& table_findings() {
  static const std::vector<Finding> all = {
      {.claim = "S-T1-1", .check = s_t1_1, .asked = "the same of windows whose ERF is below 0.9 L"},
      {.claim = "S-T1-2",
       .check = s_t1_2,
       .asked = "at least 5 percent, of windows whose ERF exceeds 1.1 L"},
      {.claim = "S-T1-3", .check = s_t1_3, .needs_steps = true},
      {.claim = "S-T1-4",
       .check = s_t1_4,
       .asked = "the same, with no slope of δ = 6, δ = 8 and h = 8 below 0.01"},
      {.claim = "S-T1-5", .check = s_t1_5},
      {.claim = "S-T1-6",
       .check = s_t1_6,
       .asked = "at 8 L at least 1.15 times the value at L, without a lower bound on slopes"},
      {.claim = "S-T1-7", .check = s_t1_7},
      {.claim = "S-T1-8", .check = s_t1_8, .asked = "decreases by no more than 2 percent"},
      {.claim = "S-T1-9", .check = s_t1_9},
      {.claim = "S-T1-10", .check = s_t1_10, .asked = "decreases by no more than 2 percent"},
      {.claim = "S-T1-11", .check = s_t1_11, .is_of_printed_numbers = true},
      {.claim = "sandwich/table1/windows-exact",
       .check = windows_exact,
       .statement = "a window with (w - 1) layers + 1 <= L - 1 changes by less than 1e-5: its last "
                    "output is the same number"},
      {.claim = "sandwich/table1/steep-flat",
       .check = flat_steep,
       .statement = "slope shifts -3 and 0 are flat within 1 percent from L to 8 L"}};
  return all;
}

Experiment table(const char* id, int place, const char* number, const char* dataset) {
  return {.place = place,
          .id = id,
          .title = "slope diversity or slope size, and does an explicit window behave alike?",
          .source = concat("Sandwich (arXiv:2212.10356) table ", number),
          .datasets = {dataset},
          .arms = shifts() + equals() + floored() + windows(),
          .measures = {last_token(), gradient()},
          .outputs = {{.form = Output::Form::table, .measure = "P1"}},
          .findings = table_findings(),
          .reference = id,
          .remarks = {"At fewer layers than the paper's 12 the windows are others: a model's field "
                      "over its training length depends on its depth."}};
}

Experiment fields(const char* id, int place, const char* figure, const char* dataset,
                  std::vector<Arm> arms, const char* of) {
  Experiment e = {.place = place,
                  .id = id,
                  .title = concat("how far back does the prediction of the token at 4 L depend on "
                                  "its inputs? (",
                                  of, ')'),
                  .source = concat("Sandwich (arXiv:2212.10356) figure ", figure),
                  .datasets = {dataset},
                  .arms = std::move(arms),
                  .measures = {gradient(), last_token()},
                  .outputs = {cumulative_gradient(),
                              {.form = Output::Form::rows,
                               .measure = "P6",
                               .quantities = {"erf", "erf_rounded", "trf_exact", "recent_share"}}}};
  return e;
}

Experiment repairs() {
  std::vector<Arm> arms;
  for (Arm arm : {shift(6), window(160, Arm::Scales::published), window(32, Arm::Scales::shrunk)}) {
    const bool is_window = arm.values.count("w") != 0;
    Arm failing = arm, repaired = arm;
    failing.group = "failing";
    failing.label += ", trained at L";
    repaired.group = "repaired";
    repaired.train_len = is_window ? 2 : 4;
    repaired.label += is_window ? ", trained at 2 L" : ", trained at 4 L";
    arms.push_back(repaired);
    arms.push_back(failing);
  }
  Arm floored = floored_shift(6);
  floored.group = kFloored;
  floored.encoding = "";
  floored.train_len = 4;
  floored.label += ", trained at 4 L";
  floored.scales = Arm::Scales::shrunk;
  arms.push_back(floored);
  return {.place = 120,
          .id = "sandwich/table2",
          .title = "does longer training repair the failed cases?",
          .source = "Sandwich (arXiv:2212.10356) table 2",
          .datasets = {"arxiv", "openwebtext2"},
          .few = {"arxiv"},
          .arms = arms,
          .measures = {last_token(), gradient()},
          .outputs = {{.form = Output::Form::table, .measure = "P1"},
                      {.form = Output::Form::rows,
                       .measure = "P6",
                       .quantities = {"erf", "trf_exact", "recent_share"}}},
          .findings = {{.claim = "S-T2-1",
                        .check = s_t2_1,
                        .asked = "the same, with no slope of δ = 6 below 0.01"},
                       {.claim = "S-T2-2", .check = s_t2_2},
                       {.claim = "S-T2-3", .check = s_t2_3},
                       {.claim = "S-T2-4", .check = s_t2_4},
                       {.claim = "sandwich/table2/repair",
                        .check = repair,
                        .statement = "the window that fails when trained at L is flat when trained "
                                     "at 2 L, where its field fits"}},
          .reference = "sandwich/table2"};
}

}  // namespace

std::vector<Experiment> sandwich_table1_rows() {
  Experiment fig4 = fields("sandwich/fig4", 140, "4", "arxiv", windows(), "windows");
  fig4.findings = {{.claim = "S-F4-1",
                    .check = s_f4_1,
                    .asked = "ERF below L for w = 4, 8, 12, 16 and above L for 32 and 48"},
                   {.claim = "S-F4-2", .check = s_f4_2},
                   {.claim = "S-F4-3",
                    .check = s_f4_3,
                    .asked = "the same, but for one window beside the boundary"}};
  Experiment fig5 = fields("sandwich/fig5", 150, "5", "arxiv", shifts(), "slope shifts");
  fig5.findings = {{.claim = "S-F5-1",
                    .check = s_f5_1,
                    .asked = "the fields of shifts of 2 and more exceed 3 L; the smallest ERF "
                             "belongs to the smallest shift"}};
  return {table("sandwich/table1", 110, "1", "arxiv"),
          table("sandwich/table4", 130, "4", "openwebtext2"),
          repairs(),
          fig4,
          fig5,
          fields("sandwich/fig12", 220, "12", "openwebtext2", windows(), "windows"),
          fields("sandwich/fig13", 230, "13", "openwebtext2", shifts(), "slope shifts")};
}

}  // namespace farfield::sweep
