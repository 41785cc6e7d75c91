// The main comparison of the Sandwich paper, the gradients of its models, and cached inference:
// tables 3 and 5, figures 6, 7 and 11.

#include <algorithm>
#include <cmath>

#include "apps/analysis/line_fit.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/order.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "Sandwich (arXiv:2212.10356) ";

std::vector<Arm> main_arms() {
  std::vector<Arm> arms = {sandwich(), smoothed(), geometric_alibi(), sinusoidal(), rotary()};
  for (Arm& arm : arms) arm.group = "parameter-free";
  for (Arm arm : {kerple_log(), t5()}) {
    arm.group = "learnable";
    arms.push_back(arm);
  }
  return arms;
}

const std::vector<double> kBeyond = {2, 4, 8, 16};

// `lower` is below `higher` at a length.
void below(const Measured& m, Evidence& e, const char* lower, const char* higher, double length) {
  e.below(concat("PPL ", length_text(length), ", ", lower, " / ", higher),
          m.perplexity(lower, length) / m.perplexity(higher, length), 1);
}

void s_t3_1(const Measured& m, Evidence& e) {
  e.above("Sinusoidal: PPL 2 L / PPL L", m.ratio("Sinusoidal", 2), m.pick(10, 1.5));
}

void s_t3_2(const Measured& m, Evidence& e) {
  e.at_least("Rotary: PPL 2 L / PPL L", m.ratio("Rotary", 2), m.pick(1.3, 1.5));
  for (const double length : {4.0, 8.0, 16.0})
    e.above(concat("Rotary: PPL ", length_text(length), " / PPL ", length_text(length / 2)),
            m.ratio("Rotary", length, length / 2), 1);
  if (m.ratio("Rotary", 16, 8) <= 1)
    e.note(concat("it levels off: PPL 8 L / PPL L = ", fixed(m.ratio("Rotary", 8), 2),
                  ", PPL 16 L / PPL L = ", fixed(m.ratio("Rotary", 16), 2)));
}

void s_t3_3(const Measured& m, Evidence& e) {
  if (m.is_published()) e.above("ALiBi: PPL 2 L / PPL L", m.ratio("ALiBi", 2), 1);
  for (const double length : {8.0, 16.0})
    e.within(concat("ALiBi: PPL ", length_text(length), " / PPL 4 L"), m.ratio("ALiBi", length, 4),
             1, 0.01);
}

void s_t3_4(const Measured& m, Evidence& e) {
  double least = INFINITY;
  for (const double length : kBeyond) {
    const double ratio = m.ratio("Sandwich", length);
    if (std::isnan(ratio)) return e.missing("Sandwich: PPL " + length_text(length));
    least = std::min(least, ratio);
  }
  e.below("Sandwich: least PPL beyond L / PPL L", least, 1);
}

void s_t3_5(const Measured& m, Evidence& e) {
  if (!m.is_on("arxiv") && !m.is_on("github")) return;
  for (const char* other : {"ALiBi", "Sinusoidal", "Rotary"})
    for (const double length : kBeyond) below(m, e, "Sandwich", other, length);
  if (!(m.perplexity("Sandwich", 16) > m.perplexity("ALiBi", 16))) return;
  explain_order(m, e, "Sandwich", "ALiBi");
  const PlannedDataset* const topic = m.dataset_named("topic");
  if (topic == nullptr) return;
  const Measured far = m.on(*topic);
  if (const double x = far.perplexity("Sandwich", 16) / far.perplexity("ALiBi", 16);
      std::isfinite(x))
    e.note(
        concat("on topic, which rewards a long context as this text hardly does, PPL 16 L of "
               "Sandwich / ALiBi = ",
               fixed(x, 3)));
}

void s_t3_6(const Measured& m, Evidence& e) {
  if (!m.is_on("openwebtext2")) return;
  for (const double length : {2.0, 4.0}) below(m, e, "Sandwich", "ALiBi", length);
  for (const double length : {8.0, 16.0}) below(m, e, "ALiBi", "Sandwich", length);
}

void s_t3_7(const Measured& m, Evidence& e) {
  for (const char* arm : {"Sandwich", "KERPLE-log", "T5"})
    e.above(concat(arm, ": PPL 16 L / PPL 4 L"), m.ratio(arm, 16, 4), 1);
}

void s_t3_8(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    e.within("Smoothed: PPL " + length_text(length), m.perplexity("Smoothed", length),
             m.perplexity("Sandwich", length), 0.04);
}

void s_t3_9(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    below(m, e, "KERPLE-log", "Sandwich", length);
}

void s_t3_10(const Measured& m, Evidence& e) {
  e.above("T5: PPL 16 L / PPL 2 L", m.ratio("T5", 16, 2), m.pick(1.3, 1.05));
}

// Of what the paper printed: its own marks beside its own means.
void s_t3_11(const Measured& m, Evidence& e) {
  const std::vector<PrintedNumber> all = printed_numbers_of("sandwich/table3");
  for (const PrintedNumber& number : all) {
    if (!m.is_on(number.dataset)) continue;
    if (number.mark != "dagger" && number.mark != "star") continue;
    for (const PrintedNumber& own : all) {
      if (own.encoding != "sandwich" || own.dataset != number.dataset ||
          own.length != number.length)
        continue;
      const double difference = std::stod(number.mean) - std::stod(own.mean);
      e.holds(concat(number.dataset, ' ', number.encoding, ' ', number.length, ", ", number.mark,
                     ": mean - Sandwich's"),
              number.mark == "dagger" ? difference > 0 : difference < 0, difference,
              "of the sign of the mark");
    }
  }
}

void near(const Measured& m, Evidence& e) {
  for (const char* arm : {"Sandwich", "KERPLE-log"})
    e.within(concat(arm, ": PPL 8 L / PPL L"), m.ratio(arm, 8), 1, 0.05);
  e.at_least("T5: PPL 8 L / PPL 2 L", m.ratio("T5", 8, 2), 1.1);
}

void gain(const Measured& m, Evidence& e) {
  for (const char* arm : {"Sandwich", "KERPLE-log", "T5"}) {
    e.at_most(concat(arm, ": PPL 8 L / PPL L"), m.ratio(arm, 8), 0.975);
    e.at_most(concat(arm, ": PPL 8 L / PPL 2 L"), m.ratio(arm, 8, 2), 0.99);
  }
  for (const double length : {4.0, 8.0})
    e.within(concat("ALiBi: PPL ", length_text(length), " / PPL 2 L"), m.ratio("ALiBi", length, 2),
             1, 0.005);
}

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

double cached(const Measured& m, const char* arm, double length) {
  return m.value(arm, "P9", "perplexity", length);
}

void s_t5_1(const Measured& m, Evidence& e) {
  for (const char* arm : {"Sandwich", "ALiBi"})
    e.within(concat(arm, ", cached: PPL 32 L / PPL 16 L"), cached(m, arm, 32) / cached(m, arm, 16),
             1, m.pick(0.001, 0.005));
}

void s_t5_2(const Measured& m, Evidence& e) {
  for (const double length : {8.0, 16.0, 32.0})
    if (!m.is_published() || length <= 16)
      e.within("ALiBi, cached: PPL " + length_text(length), cached(m, "ALiBi", length),
               m.value("ALiBi", "P1 same", "perplexity", length), 0.005);
}

void slightly_worse(const Measured& m, Evidence& e, double length) {
  e.above(concat("Sandwich: PPL ", length_text(length), ", cached / not cached"),
          cached(m, "Sandwich", length) / m.value("Sandwich", "P1 same", "perplexity", length), 1);
}
void s_t5_3(const Measured& m, Evidence& e) { slightly_worse(m, e, 8); }
void s_t5_4(const Measured& m, Evidence& e) { slightly_worse(m, e, 16); }

void s_c_1(const Measured& m, Evidence& e) {
  const double w = static_cast<double>(tokens_of(m.scale(), 4));
  for (const char* arm : {"Sandwich", "ALiBi"})
    for (const double length : {8.0, 16.0, 32.0}) {
      const double n = static_cast<double>(tokens_of(m.scale(), length)) - 1;
      e.within(concat(arm, ": score evaluations of a head at ", length_text(length)),
               m.value(arm, "P9", "score_evaluations", length), w * (w + 1) / 2 + (n - w) * w, 0);
      e.within(concat(arm, ": those without a cache at ", length_text(length)),
               m.value(arm, "P9", "score_evaluations", length) *
                   m.value(arm, "P9", "full_ratio", length),
               n * (n + 1) / 2, 1e-6);
    }
}

void identity(const Measured& m, Evidence& e) {
  for (const char* arm : {"Sandwich", "ALiBi"})
    for (const double length : {8.0, 16.0, 32.0})
      e.at_most(concat(arm, ": error of the cache at ", length_text(length)),
                m.value(arm, "P9", "cache_error", length), 1e-4);
}

void s_d_1(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    if (arm.label() != "Sandwich")
      for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
        e.above(concat(arm.label(), ": PPL ", length_text(length), " / that of 128"),
                m.perplexity(arm, length) / m.perplexity("Sandwich", length), 1);
}

// A small model's seconds say nothing of the papers': there the ratio is told alone.
void s_sp_1(const Measured& m, Evidence& e) {
  const double ratio =
      m.value("T5", "P10", "train_step_s") / m.value("Sandwich", "P10", "train_step_s");
  if (m.is_published())
    e.above("seconds per step, T5 / Sandwich", ratio, 1);
  else if (std::isfinite(ratio))
    e.note(concat("seconds per step, T5 / Sandwich: ", fixed(ratio, 2),
                  "; judged at the published size alone"));
}

Output field_curves() {
  return {.form = Output::Form::series,
          .measure = "P6",
          .quantity = "cumulative gradient",
          .caption = "share of the gradient on the inputs up to a position",
          .is_log_x = false,
          .may_log_y = false};
}
Output field_rows() {
  return {.form = Output::Form::rows,
          .measure = "P6",
          .quantities = {"erf", "erf_rounded", "recent_share", "jump_peak", "jump_height"}};
}

Experiment table3() {
  using On = Finding::On;
  return {.place = 180,
          .id = "sandwich/table3",
          .title = "the main comparison",
          .source = concat(kPaper, "table 3"),
          .datasets = {"openwebtext2", "arxiv", "github"},
          .few = {"arxiv", "github", "topic"},
          .has_spread = true,
          .arms = main_arms(),
          .measures = {last_token(), gradient()},
          .outputs = {{.form = Output::Form::table, .measure = "P1"}},
          .findings = {{"S-T3-1", s_t3_1, On::text},
                       {"S-T3-2", s_t3_2, On::text},
                       {"S-T3-3", s_t3_3, On::text},
                       {"S-T3-4", s_t3_4, On::far},
                       {"S-T3-5", s_t3_5, On::text},
                       {"S-T3-6", s_t3_6},
                       {"S-T3-7", s_t3_7},
                       {"S-T3-8", s_t3_8},
                       {"S-T3-9", s_t3_9},
                       {"S-T3-10", s_t3_10, On::text},
                       {"S-T3-11", s_t3_11},
                       {"sandwich/table3/near", near, On::text,
                        "Sandwich and KERPLE stay within 5 percent of their value at L at 8 L; T5 "
                        "is at least 10 percent worse at 8 L than at 2 L"},
                       {"sandwich/table3/gain", gain, On::synthetic,
                        "on text that rewards a long context Sandwich, KERPLE and T5 gain at least "
                        "2.5 percent from L to 8 L, 1 percent of it beyond 2 L; ALiBi changes by "
                        "less than 0.5 percent from 2 L on"}},
          .reference = "sandwich/table3",
          .reference_arm = "Sandwich",
          .remarks = {"Rotary does not fail on synthetic text, where the order beyond the previous "
                      "symbol is of no use, and is not judged there."}};
}

Experiment fig6() {
  return {.place = 190,
          .id = "sandwich/fig6",
          .title = "the gradient of rotary, which fails",
          .source = concat(kPaper, "figure 6"),
          .arms = {rotary(), geometric_alibi(), sandwich(), smoothed(), kerple_log(), t5()},
          .measures = {gradient()},
          .outputs = {field_curves(), field_rows()},
          .findings = {{.claim = "S-F6-1", .check = s_f6_1},
                       {.claim = "sandwich/fig6/share",
                        .check = rotary_share,
                        .statement = "the last L inputs hold less than half of rotary's gradient, "
                                     "and more than 0.85 of ALiBi's"}}};
}

Experiment fig7() {
  Arm quarter = sinusoidal();
  quarter.label = "Sinusoidal, L / 4";
  quarter.train_len = 0.25;
  return {.place = 200,
          .id = "sandwich/fig7",
          .title = "the gradient of sinusoidal, which fails",
          .source = concat(kPaper, "figure 7"),
          .arms = {sinusoidal(), quarter, geometric_alibi()},
          .measures = {gradient()},
          .outputs = {field_curves(),
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

Experiment fig11() {
  return {.place = 210,
          .id = "sandwich/fig11",
          .title = "gradients of encodings that extrapolate",
          .source = concat(kPaper, "figure 11"),
          .few = {"arxiv", "topic"},
          .arms = {sandwich(), smoothed(), kerple_log(), t5(), geometric_alibi()},
          .measures = {gradient()},
          .outputs = {field_curves(), field_rows()},
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

Experiment table5() {
  return {.place = 240,
          .id = "sandwich/table5",
          .title = "inference with a cache of 4 L tokens",
          .source = concat(kPaper, "table 5, appendix B"),
          .datasets = {"openwebtext2", "arxiv", "github"},
          .few = {"arxiv"},
          .arms = {sandwich(), geometric_alibi()},
          .measures = {{.key = "P9",
                        .protocol = "cached",
                        .lengths = {8, 16, 32},
                        .options = {{"cache", "{4}"}}},
                       {.key = "P1 same",
                        .protocol = "last-token",
                        .lengths = {8, 16, 32},
                        .options = {{"segments", "{cached segments}"}}}},
          .outputs = {{.form = Output::Form::table, .measure = "P9", .caption = "with the cache"},
                      {.form = Output::Form::table,
                       .measure = "P1 same",
                       .caption = "the same tokens without it"},
                      {.form = Output::Form::rows,
                       .measure = "P9",
                       .quantities = {"cache_bytes", "score_evaluations", "full_ratio",
                                      "cache_error"}}},
          .findings = {{.claim = "S-T5-1", .check = s_t5_1},
                       {.claim = "S-T5-2", .check = s_t5_2},
                       {.claim = "S-T5-3", .check = s_t5_3},
                       {.claim = "S-T5-4", .check = s_t5_4},
                       {.claim = "sandwich/table5/identity",
                        .check = identity,
                        .statement = "the cache gives the scores of one pass under a window of its "
                                     "size, to 1e-4"}},
          .reference = "sandwich/table5"};
}

Experiment complexity() {
  Experiment e = table5();
  e.place = 250;
  e.id = "sandwich/complexity";
  e.title = "how many scores cached inference computes";
  e.source = concat(kPaper, "appendix B");
  e.reference.clear();
  e.outputs = {{.form = Output::Form::rows,
                .measure = "P9",
                .quantities = {"score_evaluations", "full_ratio", "cache_bytes"}}};
  e.findings = {{.claim = "S-C-1", .check = s_c_1}};
  e.remarks = {
      "Cached: w (w + 1) / 2 + (n - w) w scores of a head over n inputs, w = 4 L the "
      "cache. Without it: n (n + 1) / 2."};
  return e;
}

Experiment bar_d() {
  Experiment e = {.place = 170,
                  .id = "sandwich/bar_d-sweep",
                  .title = "how wide should Sandwich's vectors be?",
                  .source = concat(kPaper, "section 6.1"),
                  .datasets = {"openwebtext2", "arxiv", "github"},
                  .few = {"arxiv"},
                  .arms = {sandwich()},
                  .measures = {last_token(), gradient()},
                  .outputs = {{.form = Output::Form::table, .measure = "P1"}},
                  .findings = {{.claim = "S-D-1", .check = s_d_1}}};
  for (const int width : {32, 64, 256, 512}) {
    Arm arm = arm_of(concat("bar_d = ", width), concat("sandwich(bar_d=", width, ")"), "");
    if (width == 32 || width == 512) arm.scales = Arm::Scales::published;
    e.arms.push_back(arm);
  }
  return e;
}

Experiment learnable() {
  Experiment e = table3();
  e.place = 270;
  e.id = "sandwich/learnable-compression";
  e.title = "Sandwich with trained compression ratios";
  e.source = concat(kPaper, "section 6.2, future work");
  e.few = {"arxiv"};
  e.has_spread = false;
  e.arms = {sandwich(), arm_of("Sandwich, trained h", "sandwich_learned", "")};
  e.findings.clear();
  e.reference.clear();
  e.remarks.clear();
  return e;
}

Experiment speed() {
  return {.place = 260,
          .id = "sandwich/speed",
          .title = "what T5 costs against Sandwich",
          .source = concat(kPaper, "section 6.3"),
          .datasets = {"arxiv"},
          .arms = {sandwich(), t5()},
          .measures = {{.key = "P10", .protocol = "speed", .lengths = {1}}},
          .outputs = {{.form = Output::Form::rows,
                       .measure = "P10",
                       .quantities = {"train_step_s", "train_step_s_p10", "train_step_s_p90",
                                      "train_tokens_per_s", "train_peak_mib"}}},
          .findings = {{.claim = "S-SP-1", .check = s_sp_1}},
          .remarks = {"Informative: where one kernel reads every table, all encodings may cost the "
                      "same."}};
}

}  // namespace

std::vector<Experiment> sandwich_table3_rows() {
  Experiment parity = {.place = 280,
                       .id = "sandwich/parity",
                       .title = "can any of them count modulo 2 beyond its training length?",
                       .source = concat(kPaper, "limitations"),
                       .findings = {{.claim = "S-P-1"}},
                       .not_run = "its task, parity of bits, is not there yet"};
  return {table3(),     fig6(),  fig7(),      fig11(), table5(),
          complexity(), bar_d(), learnable(), speed(), parity};
}

}  // namespace farfield::sweep
