// Results and cost of inference with a cache, and the cost of a training step: table 5, appendix B
// and section 6.3 of the Sandwich paper.

#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/step_times.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "Sandwich (arXiv:2212.10356) ";

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
      e.within(concat("ALiBi: PPL ", length_text(length), ", cached / not cached"),
               cached(m, "ALiBi", length) / m.value("ALiBi", "P1 same", "perplexity", length), 1,
               0.005);
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

// A small model's seconds say nothing of the papers': there the ratio is told alone.
void s_sp_1(const Measured& m, Evidence& e) {
  const double ratio = step_time(m, *m.arm("T5")) / step_time(m, *m.arm("Sandwich"));
  if (m.is_published())
    e.above("seconds per step, T5 / Sandwich", ratio, 1);
  else if (std::isfinite(ratio))
    e.note(concat("seconds per step, T5 / Sandwich: ", fixed(ratio, 2),
                  "; judged from scale small on"));
}

Experiment sandwich_table5() {
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
          .findings = {{.claim = "S-T5-1", .check = s_t5_1, .asked = "within 0.5 percent"},
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
  Experiment e = sandwich_table5();
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

std::vector<Experiment> sandwich_costs_rows() { return {sandwich_table5(), complexity(), speed()}; }

}  // namespace farfield::sweep
