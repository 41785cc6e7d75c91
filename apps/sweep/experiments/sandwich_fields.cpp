// How far back slopes and windows look: figures 4, 5, 12 and 13 of the Sandwich paper.

#include <algorithm>
#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/slope_arms.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

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

}  // namespace

std::vector<Experiment> sandwich_fields_rows() {
  Experiment fig4 = fields("sandwich/fig4", 140, "4", "arxiv", windows(), "windows");
  fig4.findings = {{.claim = "S-F4-1",
                    .check = s_f4_1,
                    .asked = "ERF below L for w = 4, 8, 12, 16 and above L for 32 and 48"},
                   {.claim = "S-F4-2", .check = s_f4_2},
                   {.claim = "S-F4-3",
                    .check = s_f4_3,
                    .asked = "the same, but for one window beside the boundary"}};
  Experiment fig5 = fields("sandwich/fig5", 150, "5", "arxiv", slope_shifts(), "slope shifts");
  fig5.findings = {{.claim = "S-F5-1",
                    .check = s_f5_1,
                    .asked = "the fields of shifts of 2 and more exceed 3 L; the smallest ERF "
                             "belongs to the smallest shift"}};
  return {fig4, fig5, fields("sandwich/fig12", 220, "12", "openwebtext2", windows(), "windows"),
          fields("sandwich/fig13", 230, "13", "openwebtext2", slope_shifts(), "slope shifts")};
}

}  // namespace farfield::sweep
