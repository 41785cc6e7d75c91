// Slopes and windows: tables 1 and 4 of the Sandwich paper.

#include "apps/sweep/evidence.h"
#include "apps/sweep/experiment.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

Arm shift(int64_t delta) {
  return {.label = concat("δ = ", delta),
          .posenc = concat("alibi_shift(delta=", delta, ")"),
          .group = "slope shift",
          .encoding = "alibi_shift",
          .variant = "slope-shift",
          .param = concat("delta=", delta),
          .values = {{"delta", static_cast<double>(delta)}}};
}

// S-T1-4
void is_constant_from_8(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    e.within(arm.label() + ": PPL 16 L / PPL 8 L", m.ratio(arm, 16, 8), 1, 0.005);
}

}  // namespace

std::vector<Experiment> sandwich_table1_rows() {
  Experiment table1 = {
      .place = 110,
      .id = "sandwich/table1",
      .title = "slope diversity or slope size, and does an explicit window behave alike?",
      .source = "Sandwich (arXiv:2212.10356) table 1",
      .datasets = {"arxiv"},
      .arms = {shift(-3)},
      .measures = {{.key = "P1", .protocol = "last-token", .lengths = {1, 2, 4, 8, 16}}},
      .outputs = {{.form = Output::Form::table, .measure = "P1"}},
      .findings = {{.claim = "S-T1-4", .check = is_constant_from_8}},
      .reference = "sandwich/table1"};
  return {table1};
}

}  // namespace farfield::sweep
