// Longer training of slopes and windows that fail: table 2 of the Sandwich paper.

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/slope_arms.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

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

Experiment repairs() {
  std::vector<Arm> arms;
  for (Arm arm : {slope_shift(6), window_of(160, Arm::Scales::published),
                  window_of(32, Arm::Scales::shrunk)}) {
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

std::vector<Experiment> sandwich_table2_rows() { return {repairs()}; }

}  // namespace farfield::sweep
