// A longer training length, a larger model and WikiText-103: tables 9 and 10 of the KERPLE paper.

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/kerple_tables.h"
#include "apps/sweep/measured.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// 8 times the training length is 16 L.
void k_t9_1(const Measured& m, Evidence& e) {
  for (const double length : {2.0, 4.0, 8.0, 16.0, 32.0})
    if (m.is_published() || length == 16) below(m, e, "KERPLE-log", "ALiBi", length);
}

void k_t9_2(const Measured& m, Evidence& e) {
  for (const double length : {2.0, 4.0}) below(m, e, "T5", "KERPLE-log", length);
  for (const double length : {8.0, 16.0, 32.0}) below(m, e, "KERPLE-log", "T5", length);
}

void k_t9_3(const Measured& m, Evidence& e) {
  if (!m.is_on("github") && !m.is_on("arxiv")) return;
  for (const double length : kKerpleLengths) not_above(m, e, "KERPLE-log", "ALiBi", length);
}

void k_t9_4(const Measured& m, Evidence& e) {
  for (const double length : kKerpleLengths) below(m, e, "KERPLE-log", "T5", length);
}

void k_t9_5(const Measured& m, Evidence& e) {
  for (const double length : kKerpleLengths) below(m, e, "ALiBi", "T5", length);
}

void k_t9_6(const Measured& m, Evidence& e) {
  if (!m.is_on("openwebtext2")) return;
  for (const double length : {16.0, 32.0}) below(m, e, "ALiBi", "KERPLE-log", length);
}

// Lengths of table 10 for a model trained at so many units.
std::vector<double> lengths_of_table10(double train_len) {
  return train_len > 1 ? std::vector<double>{4, 6} : std::vector<double>{1, 2, 3, 4, 6};
}

const PlannedArm* arm_of_table10(const Measured& m, double train_len, const char* encoding) {
  for (const PlannedArm* arm : m.arms(trained_at(train_len)))
    if (arm->arm.encoding == encoding) return arm;
  return nullptr;
}

void k_t10_1(const Measured& m, Evidence& e) {
  for (const double train_len : {1.0, 4.0}) {
    const PlannedArm& log = *arm_of_table10(m, train_len, "kerple_log");
    const PlannedArm& alibi = *arm_of_table10(m, train_len, "alibi");
    for (const double length : compared(m, lengths_of_table10(train_len), train_len))
      e.below(against(log.label(), alibi.label(), length),
              m.perplexity(log, length) / m.perplexity(alibi, length), 1);
  }
}

void k_t10_2(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms()) {
    const std::vector<double> lengths = lengths_of_table10(arm.arm.train_len);
    for (size_t i = 1; i < lengths.size(); ++i)
      e.below(concat(arm.label(), ": PPL ", length_text(lengths[i]), " / PPL ",
                     length_text(lengths[i - 1])),
              m.ratio(arm, lengths[i], lengths[i - 1]), 1);
  }
}

// The models of table 9; the paper has a name for each size.
std::vector<Arm> arms_of_table9(const char* variant, Size size, double train_len) {
  std::vector<Arm> arms = {kerple_log(), alibi(), t5()};
  for (Arm& arm : arms) {
    arm.variant = variant;
    arm.size = size;
    arm.train_len = train_len;
  }
  return arms;
}

Experiment kerple_table9() {
  return {.place = 350,
          .id = "kerple/table9",
          .title = "trained at 2 L",
          .source = concat(kKerple, "table 9, 162M"),
          .datasets = kKerpleTexts,
          .few = {"github", "topic"},
          .has_spread = true,
          .arms = arms_of_table9("162M", Size::base, 2),
          .measures = {non_overlapping({2, 4, 8, 16, 32}), last_token()},
          .outputs = {table_of_chunks(), table_of_last_token()},
          .findings = {{.claim = "K-T9-1",
                        .check = k_t9_1,
                        .on = Finding::On::far,
                        .asked = "the same at 16 L, on text that rewards a long context"},
                       {.claim = "K-T9-2", .check = k_t9_2, .needs_steps = true}},
          .reference = "kerple/table9",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {kChunksFall}};
}

Experiment kerple_table9_large() {
  return {.place = 360,
          .id = "kerple/table9-1.3b",
          .title = "a larger model",
          .source = concat(kKerple, "table 9, 1.3B"),
          .datasets = kKerpleTexts,
          .few = {"github"},
          .has_spread = true,
          .arms = arms_of_table9("1.3B", Size::large, 1),
          .measures = {non_overlapping(kKerpleLengths), last_token()},
          .outputs = {table_of_chunks(), table_of_last_token()},
          .findings = {{.claim = "K-T9-3", .check = k_t9_3},
                       {.claim = "K-T9-4", .check = k_t9_4},
                       {.claim = "K-T9-5", .check = k_t9_5},
                       {.claim = "K-T9-6", .check = k_t9_6}},
          .reference = "kerple/table9",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {"The paper explains its order by learned biases that overfit with a larger "
                      "model and noisier text.",
                      kChunksFall}};
}

Experiment kerple_table10() {
  std::vector<Arm> arms;
  for (const double train_len : {1.0, 4.0})
    for (Arm arm : {alibi(), kerple_log()}) {
      arm.group = trained_at(train_len);
      arm.size = Size::baevski;
      arm.train_len = train_len;
      if (train_len > 1) arm.label += ", " + arm.group;
      arms.push_back(arm);
    }
  const std::vector<double> lengths = lengths_of_table10(1);
  return {.place = 370,
          .id = "kerple/table10",
          .title = "WikiText-103",
          .source = concat(kKerple, "table 10"),
          .datasets = {"wikitext103"},
          .arms = arms,
          .measures = {non_overlapping(lengths),
                       {.key = "P3",
                        .protocol = "sliding",
                        .lengths = lengths,
                        .options = {{"stride", "1"}, {"max-tokens", "{32}"}}}},
          .outputs = {table_of_chunks(),
                      {.form = Output::Form::table,
                       .measure = "P3",
                       .caption = "perplexity with as much context as there is for each token, "
                                  "of a part of the text"}},
          .findings = {{.claim = "K-T10-1",
                        .check = k_t10_1,
                        .asked = "the same beyond the training "
                                 "length"},
                       {.claim = "K-T10-2", .check = k_t10_2}},
          .reference = "kerple/table10",
          .remarks = {"The paper does not say how it measured this table; falling numbers speak "
                      "for chunks."}};
}

}  // namespace

std::vector<Experiment> kerple_sizes_rows() {
  return {kerple_table9(), kerple_table9_large(), kerple_table10()};
}

}  // namespace farfield::sweep
