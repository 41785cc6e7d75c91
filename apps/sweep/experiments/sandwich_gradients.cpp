// Where the gradient of the last token goes, in models that fail beyond their training length and
// in models that do not: figures 6, 7 and 11 of the Sandwich paper.

#include <algorithm>
#include <cmath>

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

// The first inputs take much of the attention of any model, wherever it was trained to.
constexpr double kFirstInputs = 4;

// The position of the largest gradient, the first inputs and the last L / 8 left out; NaN where
// there is none.
double largest_inside(const eval::Series& gradient, double unit) {
  double largest = 0, position = std::nan("");
  for (size_t i = 0; i < gradient.y.size(); ++i) {
    const bool is_inside =
        gradient.x[i] > kFirstInputs && gradient.x[i] <= gradient.x.back() - unit / 8;
    if (!is_inside || gradient.y[i] <= largest) continue;
    largest = gradient.y[i];
    position = gradient.x[i];
  }
  return position;
}

void s_f7_1(const Measured& m, Evidence& e) {
  for (const char* label : {"Sinusoidal", "Sinusoidal, L / 4"}) {
    const PlannedArm* const arm = m.arm(label);
    const auto at = static_cast<double>(tokens_of(m.scale(), arm->arm.train_len));
    e.at_least(concat(label, ": gradient at the training length over its median around it"),
               m.value(*arm, "P6", "jump_height"), 3);
    const double largest =
        largest_inside(m.series(*arm, "P6", "normalised gradient"), static_cast<double>(at));
    const std::string what = concat(label, ": position of the largest gradient but for the first ",
                                    kFirstInputs, " inputs and the last L / 8");
    e.holds(what, std::abs(largest - at) <= std::max(2.0, at / 8), largest, concat("near ", at));
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
          .quantities = {"erf", "erf_rounded", "recent_share", "jump_peak", "jump_height"},
          .positions = {"jump_peak"}};
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
          .findings = {{.claim = "S-F11-1", .check = s_f11_1, .asked = "0.5 to 0.9"},
                       {.claim = "S-F11-2", .check = s_f11_2, .asked = "less than 0.3"},
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
