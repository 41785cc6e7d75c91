// Where the gradient of the last token goes, in models that fail beyond their training length and
// in models that do not: figures 6, 7 and 11 of the Sandwich paper.

#include <algorithm>
#include <cmath>

#include "apps/analysis/line_fit.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "Sandwich (arXiv:2212.10356) ";

double share(const Measured& m, const char* arm) { return m.value(arm, "P6", "recent_share"); }
double field(const Measured& m, const char* arm) {
  return m.value(arm, "P6", "erf") / static_cast<double>(tokens_of(m.scale(), 1));
}

void s_f6_1(const Measured& m, Evidence& e) {
  for (const char* other : {"ALiBi", "Sandwich", "Smoothed", "KERPLE-log", "T5"})
    e.below(concat("share of the last L inputs, Rotary against ", other), share(m, "Rotary"),
            share(m, other));
}

void shares(const Measured& m, Evidence& e, const char* failing) {
  e.below(concat(failing, ": share of the last L inputs"), share(m, failing), 0.5);
  e.above("ALiBi: share of the last L inputs", share(m, "ALiBi"), 0.85);
}
void rotary_share(const Measured& m, Evidence& e) { shares(m, e, "Rotary"); }
void sinusoidal_share(const Measured& m, Evidence& e) { shares(m, e, "Sinusoidal"); }

void s_f7_1(const Measured& m, Evidence& e) {
  for (const char* label : {"Sinusoidal", "Sinusoidal, L / 4"}) {
    const PlannedArm* const arm = m.arm(label);
    const double found = m.value(label, "P6", "jump"), peak = m.value(label, "P6", "jump_peak");
    const int64_t at = tokens_of(m.scale(), arm->arm.train_len);
    if (std::isnan(found)) {
      e.missing(concat(label, ": spike"));
      continue;
    }
    e.holds(concat(label, ": position of the largest gradient, the last L / 8 left out"),
            found == 1, peak, concat("a spike at position ", at));
  }
}

constexpr const char* kExtrapolating[] = {"Sandwich", "Smoothed", "KERPLE-log", "T5"};

void s_f11_1(const Measured& m, Evidence& e) {
  e.at_least("Sandwich: share of the last L inputs", share(m, "Sandwich"), 0.5);
  e.at_most("Sandwich: share of the last L inputs", share(m, "Sandwich"), m.pick(0.7, 0.9));
  e.below("share of the last L inputs, Sandwich against ALiBi", share(m, "Sandwich"),
          share(m, "ALiBi"));
}

void s_f11_2(const Measured& m, Evidence& e) {
  for (const char* a : kExtrapolating)
    for (const char* b : kExtrapolating) {
      if (std::string(a) >= b) continue;
      const eval::Series x = m.series(*m.arm(a), "P6", "cumulative gradient"),
                         y = m.series(*m.arm(b), "P6", "cumulative gradient");
      const std::string what = concat(a, " and ", b, ": largest difference");
      if (x.y.empty() || x.y.size() != y.y.size()) {
        e.missing(what);
        continue;
      }
      double most = 0;
      for (size_t i = 0; i < x.y.size(); ++i) most = std::max(most, std::abs(x.y[i] - y.y[i]));
      e.below(what, most, m.pick(0.2, 0.3));
    }
}

void s_f11_linear(const Measured& m, Evidence& e) {
  const eval::Series s = m.series(*m.arm("Sandwich"), "P6", "cumulative gradient");
  const auto unit = static_cast<double>(tokens_of(m.scale(), 1));
  std::vector<double> x, y;
  for (size_t i = 0; i < s.y.size(); ++i)
    if (s.x[i] >= 3 * unit && s.x[i] <= 3.5 * unit) {
      x.push_back(s.x[i]);
      y.push_back(s.y[i]);
    }
  if (x.size() < 3) return e.missing("Sandwich: cumulative gradient from 3 L to 3.5 L");
  double mean = 0, variance = 0;
  for (const double v : y) mean += v / static_cast<double>(y.size());
  for (const double v : y) variance += (v - mean) * (v - mean) / static_cast<double>(y.size());
  const double residual = analysis::fit_line(x, y).residual;
  e.above("Sandwich: R2 of a line over 3 L to 3.5 L", 1 - residual * residual / variance, 0.98);
}

void fields_beyond(const Measured& m, Evidence& e) {
  for (const char* arm : kExtrapolating) {
    e.at_least(concat("share of the last L inputs, ALiBi - ", arm),
               share(m, "ALiBi") - share(m, arm), 0.02);
    e.above(concat(arm, ": ERF / L"), field(m, arm), 3);
  }
  e.below("ALiBi: ERF / L", field(m, "ALiBi"), 3);
}

Output field_rows() {
  return {.form = Output::Form::rows,
          .measure = "P6",
          .quantities = {"erf", "erf_rounded", "recent_share", "jump_peak", "jump_height"}};
}

Experiment sandwich_fig6() {
  return {.place = 190,
          .id = "sandwich/fig6",
          .title = "the gradient of rotary, which fails",
          .source = concat(kPaper, "figure 6"),
          .arms = {rotary(), geometric_alibi(), sandwich(), smoothed(), kerple_log(), t5()},
          .measures = {gradient()},
          .outputs = {cumulative_gradient(), field_rows()},
          .findings = {{.claim = "S-F6-1", .check = s_f6_1},
                       {.claim = "sandwich/fig6/share",
                        .check = rotary_share,
                        .statement = "the last L inputs hold less than half of rotary's gradient, "
                                     "and more than 0.85 of ALiBi's"}}};
}

Experiment sandwich_fig7() {
  Arm quarter = sinusoidal();
  quarter.label = "Sinusoidal, L / 4";
  quarter.train_len = 0.25;
  return {.place = 200,
          .id = "sandwich/fig7",
          .title = "the gradient of sinusoidal, which fails",
          .source = concat(kPaper, "figure 7"),
          .arms = {sinusoidal(), quarter, geometric_alibi()},
          .measures = {gradient()},
          .outputs = {cumulative_gradient(),
                      {.form = Output::Form::series,
                       .measure = "P6",
                       .quantity = "normalised gradient",
                       .caption = "share of the gradient at a position",
                       .is_log_x = false},
                      field_rows()},
          .findings = {{.claim = "S-F7-1", .check = s_f7_1},
                       {.claim = "sandwich/fig7/share",
                        .check = sinusoidal_share,
                        .statement = "the last L inputs hold less than half of sinusoidal's "
                                     "gradient, and more than 0.85 of ALiBi's"}}};
}

Experiment sandwich_fig11() {
  return {.place = 210,
          .id = "sandwich/fig11",
          .title = "gradients of encodings that extrapolate",
          .source = concat(kPaper, "figure 11"),
          .few = {"arxiv", "topic"},
          .arms = {sandwich(), smoothed(), kerple_log(), t5(), geometric_alibi()},
          .measures = {gradient()},
          .outputs = {cumulative_gradient(), field_rows()},
          .findings = {{.claim = "S-F11-1", .check = s_f11_1},
                       {.claim = "S-F11-2", .check = s_f11_2},
                       {.claim = "sandwich/fig11/linear",
                        .check = s_f11_linear,
                        .statement = "the cumulative gradient of Sandwich is a line from 3 L to "
                                     "3.5 L: R2 above 0.98"},
                       {.claim = "sandwich/fig11/fields",
                        .check = fields_beyond,
                        .statement = "each puts at least 0.02 less of the gradient on the last L "
                                     "inputs than ALiBi, and its field exceeds 3 L, ALiBi's not"}}};
}

}  // namespace

std::vector<Experiment> sandwich_gradients_rows() {
  return {sandwich_fig6(), sandwich_fig7(), sandwich_fig11()};
}

}  // namespace farfield::sweep
