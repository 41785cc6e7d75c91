// The main comparison of the Sandwich paper, table 3, and its variants: the width of the vectors,
// trained compression ratios.

#include <algorithm>
#include <cmath>

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
void perplexity_below(const Measured& m, Evidence& e, const char* lower, const char* higher,
                      double length) {
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
    for (const double length : kBeyond) perplexity_below(m, e, "Sandwich", other, length);
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
  for (const double length : {2.0, 4.0}) perplexity_below(m, e, "Sandwich", "ALiBi", length);
  for (const double length : {8.0, 16.0}) perplexity_below(m, e, "ALiBi", "Sandwich", length);
}

void s_t3_7(const Measured& m, Evidence& e) {
  for (const char* arm : {"Sandwich", "KERPLE-log", "T5"})
    e.above(concat(arm, ": PPL 16 L / PPL 4 L"), m.ratio(arm, 16, 4), 1);
}

void s_t3_8(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    e.within(concat("PPL ", length_text(length), ", Smoothed / Sandwich"),
             m.perplexity("Smoothed", length) / m.perplexity("Sandwich", length), 1, 0.04);
}

void s_t3_9(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    perplexity_below(m, e, "KERPLE-log", "Sandwich", length);
}

void s_t3_10(const Measured& m, Evidence& e) {
  e.above("T5: PPL 16 L / PPL 2 L", m.ratio("T5", 16, 2), m.pick(1.3, 1.05));
}

// Checks the printed marks against the printed means.
void s_t3_11(const Measured&, Evidence& e) {
  const std::vector<PrintedNumber> all = printed_numbers_of("sandwich/table3");
  for (const PrintedNumber& number : all) {
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

void s_d_1(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms())
    if (arm.label() != "Sandwich")
      for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
        e.above(concat(arm.label(), ": PPL ", length_text(length), " / that of 128"),
                m.perplexity(arm, length) / m.perplexity("Sandwich", length), 1);
}

Experiment sandwich_table3() {
  using On = Finding::On;
  return {
      .place = 180,
      .id = "sandwich/table3",
      .title = "the main comparison",
      .source = concat(kPaper, "table 3"),
      .datasets = {"openwebtext2", "arxiv", "github"},
      .few = {"openwebtext2", "arxiv", "github", "topic"},
      .has_spread = true,
      .arms = main_arms(),
      .measures = {last_token(), gradient()},
      .outputs = {{.form = Output::Form::table, .measure = "P1"}},
      .findings = {{.claim = "S-T3-1",
                    .check = s_t3_1,
                    .on = On::text,
                    .asked = "more than 1.5 times, on real text"},
                   {.claim = "S-T3-2",
                    .check = s_t3_2,
                    .on = On::text,
                    .asked = "by more than 50 percent at 2 L, and it keeps rising, on real text"},
                   {.claim = "S-T3-3",
                    .check = s_t3_3,
                    .on = On::text,
                    .asked = "flat from 4 L on, on real text"},
                   {.claim = "S-T3-4",
                    .check = s_t3_4,
                    .on = On::far,
                    .asked = "the same on text that rewards a long context"},
                   {.claim = "S-T3-5", .check = s_t3_5, .on = On::text},
                   {.claim = "S-T3-6", .check = s_t3_6},
                   {.claim = "S-T3-7", .check = s_t3_7},
                   {.claim = "S-T3-8", .check = s_t3_8},
                   {.claim = "S-T3-9", .check = s_t3_9, .needs_steps = true},
                   {.claim = "S-T3-10",
                    .check = s_t3_10,
                    .on = On::text,
                    .asked = "more than 5 percent, on real text"},
                   {.claim = "S-T3-11", .check = s_t3_11, .is_of_printed_numbers = true},
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
  Experiment e = sandwich_table3();
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

}  // namespace

std::vector<Experiment> sandwich_table3_rows() { return {sandwich_table3(), bar_d(), learnable()}; }

}  // namespace farfield::sweep
