// The main comparison of the KERPLE paper, table 3.

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/kerple_tables.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/order.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

void k_t3_1(const Measured& m, Evidence& e) {
  const char* const what = "Sinusoidal: PPL 2 L / PPL L";
  if (m.is_published())
    e.above(what, m.ratio("Sinusoidal", 2), 10);
  else
    e.at_least(what, m.ratio("Sinusoidal", 2), 1.3);
}

void k_t3_2(const Measured& m, Evidence& e) {
  if (m.is_published()) e.above("Rotary: PPL 32 L / PPL L", m.ratio("Rotary", 32), 9);
  for (const double length : {2.0, 4.0, 8.0, 16.0, 32.0})
    e.above(concat("Rotary: PPL ", length_text(length), " / PPL ", length_text(length / 2)),
            m.ratio("Rotary", length, length / 2), 1);
}

void k_t3_3(const Measured& m, Evidence& e) {
  for (const double length : compared(m, kKerpleLengths))
    not_above(m, e, "KERPLE-log", "KERPLE-power", length);
  explain_order(m, e, "KERPLE-log", "KERPLE-power");
}

// Below `small`: ALiBi from 8 L on, on text that rewards a long context; the others on the rest,
// for on synthetic text they do not fail.
void k_t3_4(const Measured& m, Evidence& e) {
  for (const double length : compared(m, kKerpleLengths)) {
    if (m.is_published() || (m.dataset().is_synthetic && length >= 8))
      not_above(m, e, "KERPLE-log", "ALiBi", length);
    if (m.dataset().is_synthetic && !m.is_published()) continue;
    not_above(m, e, "KERPLE-log", "Rotary", length);
    not_above(m, e, "KERPLE-log", "Sinusoidal", length);
  }
}

void k_t3_5(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0}) below(m, e, "T5", "KERPLE-log", length);
  for (const double length : {8.0, 16.0, 32.0}) below(m, e, "KERPLE-log", "T5", length);
}

void k_t3_6(const Measured& m, Evidence& e) {
  e.below("KERPLE-log: PPL 32 L / PPL L", m.ratio("KERPLE-log", 32), 1);
  if (!(m.ratio("KERPLE-log", 32) < 1)) return;
  std::vector<std::string> others;
  for (const PlannedArm& arm : m.arms())
    if (arm.label() != "KERPLE-log" && m.ratio(arm, 32) < 1) others.push_back(arm.label());
  if (!others.empty())
    e.note(concat("perplexity of chunks falls in the same way for ", joined(others),
                  ": it is no evidence that distant tokens are used"));
}

void k_t3_7(const Measured& m, Evidence& e) {
  for (const double length : {8.0, 16.0, 32.0})
    e.within(concat("ALiBi: PPL ", length_text(length), " / PPL 4 L"), m.ratio("ALiBi", length, 4),
             1, 0.04);
}

void k_t3_8(const Measured& m, Evidence& e) {
  e.above("T5: PPL 32 L / PPL 8 L", m.ratio("T5", 32, 8), 1.1);
}

void early_tokens(const Measured& m, Evidence& e) {
  for (const char* arm : {"KERPLE-log", "KERPLE-power", "ALiBi"})
    e.below(concat(arm, ": PPL 4 L / PPL L, of chunks / of the last token"),
            m.ratio(arm, 4) /
                (m.value(arm, "P1", "perplexity", 4) / m.value(arm, "P1", "perplexity", 1)),
            1);
}

Experiment kerple_table3() {
  using On = Finding::On;
  std::vector<Arm> arms = {kerple_log(), kerple_power(), alibi(), t5(), rotary(), sinusoidal()};
  for (Arm arm : {sandwich(), smoothed()}) {
    arm.scales = Arm::Scales::shrunk;  // not in the paper; at these scales they cost nothing more
    arms.push_back(arm);
  }
  return {.place = 310,
          .id = "kerple/table3",
          .title = "the main comparison",
          .source = concat(kKerple, "table 3"),
          .datasets = kKerpleTexts,
          .few = {"openwebtext2", "github", "topic"},
          .has_spread = true,
          .arms = arms,
          .measures = {non_overlapping(kKerpleLengths),
                       last_token(),
                       {.key = "P2 chunks",
                        .protocol = "non-overlapping",
                        .lengths = kKerpleLengths,
                        .options = {{"budget", "same-chunks"}, {"chunks", "{chunks}"}}}},
          .outputs = {table_of_chunks(),
                      table_of_last_token(),
                      {.form = Output::Form::table,
                       .measure = "P2 chunks",
                       .caption = "perplexity of as many chunks at every length (the released "
                                  "code has 320)"}},
          .findings = {{.claim = "K-T3-1",
                        .check = k_t3_1,
                        .on = On::text,
                        .asked = "at 2 L at least 1.3 times the value at L, on real text"},
                       {.claim = "K-T3-2",
                        .check = k_t3_2,
                        .on = On::text,
                        .asked = "perplexity rises at every doubling, on real text"},
                       {.claim = "K-T3-3", .check = k_t3_3, .asked = "the same beyond L"},
                       {.claim = "K-T3-4",
                        .check = k_t3_4,
                        .asked = "beyond L at least as good as rotary and sinusoidal on real "
                                 "text, and from 8 L on as ALiBi on text that rewards a long "
                                 "context"},
                       {.claim = "K-T3-5", .check = k_t3_5, .needs_steps = true},
                       {.claim = "K-T3-6", .check = k_t3_6},
                       {.claim = "K-T3-7", .check = k_t3_7},
                       {.claim = "K-T3-8",
                        .check = k_t3_8,
                        .on = On::text,
                        .asked = "the same on real text"},
                       {"kerple/table3/early-tokens", early_tokens, On::any,
                        "from L to 4 L perplexity of chunks gains more than that of the last "
                        "token, also for encodings that make no use of distant tokens"}},
          .reference = "kerple/table3",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {kChunksFall,
                      "The paper's marks of significance are lost; those beside our "
                      "numbers are our own."}};
}

}  // namespace

std::vector<Experiment> kerple_table3_rows() { return {kerple_table3()}; }

}  // namespace farfield::sweep
