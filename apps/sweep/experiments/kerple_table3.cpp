// Perplexities of the KERPLE paper: the main comparison, other kernels, a longer training length
// and a larger model, and WikiText-103. Tables 3, 5, 6, 9 and 10.

#include <algorithm>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/order.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "KERPLE (arXiv:2205.09921) ";
constexpr const char* kFalls =
    "Perplexity of chunks falls with length for every encoding that does not fail, since a smaller "
    "share of the tokens stands near the start of a chunk. Whether a model makes use of more text "
    "than it was trained with is seen by its last token.";

const std::vector<double> kLengths = {1, 2, 4, 8, 16, 32};
const std::vector<std::string> kTexts = {"openwebtext2", "github", "arxiv"};

Measure non_overlapping(const std::vector<double>& lengths) {
  return {.key = "P2", .protocol = "non-overlapping", .lengths = lengths};
}

// The lengths at which encodings are compared with each other. Below `small` only beyond the
// training length: up to it, short training favours encodings that see little more than the
// neighbours.
std::vector<double> compared(const Measured& m, std::vector<double> lengths, double train_len = 1) {
  if (!m.is_published()) std::erase_if(lengths, [&](double length) { return length <= train_len; });
  return lengths;
}

std::string against(const std::string& a, const std::string& b, double length) {
  return concat("PPL ", length_text(length), ", ", a, " / ", b);
}
double quotient(const Measured& m, const std::string& a, const std::string& b, double length) {
  return m.perplexity(a, length) / m.perplexity(b, length);
}
void below(const Measured& m, Evidence& e, const char* a, const char* b, double length) {
  e.below(against(a, b, length), quotient(m, a, b, length), 1);
}
void not_above(const Measured& m, Evidence& e, const char* a, const char* b, double length) {
  e.at_most(against(a, b, length), quotient(m, a, b, length), 1);
}

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
  for (const double length : compared(m, kLengths))
    not_above(m, e, "KERPLE-log", "KERPLE-power", length);
  explain_order(m, e, "KERPLE-log", "KERPLE-power");
}

// Below `small`: ALiBi from 8 L on, on text that rewards a long context; the others on the rest,
// for on synthetic text they do not fail.
void k_t3_4(const Measured& m, Evidence& e) {
  for (const double length : compared(m, kLengths)) {
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

// The paper had no memory for more than 16 L.
void k_t5_1(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    if (m.is_published() && length > 16) break;
    e.within(against("3-para-log", "KERPLE-log", length),
             quotient(m, "3-para-log", "KERPLE-log", length), 1, m.pick(0.015, 0.03));
  }
  explain_order(m, e, "3-para-log", "KERPLE-log");
}

void k_t5_2(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    not_above(m, e, "KERPLE-log", "bias+wht", length);
}

void weight_is_no_gain(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    e.at_least(against("bias+wht", "KERPLE-log", length),
               quotient(m, "bias+wht", "KERPLE-log", length), 0.99);
  explain_order(m, e, "bias+wht", "KERPLE-log");
}

constexpr const char* kGaussian[] = {"1-para-wht", "2-para-wht", "2-para-bias", "3-para-bias"};

void k_t6_1(const Measured& m, Evidence& e) {
  for (const double length : {4.0, 8.0, 16.0}) {
    if (!m.is_published() && length != 8) continue;
    below(m, e, "1-para-wht", "2-para-bias", length);
    below(m, e, "2-para-wht", "3-para-bias", length);
  }
}

void k_t6_2(const Measured& m, Evidence& e) {
  for (const double length : compared(m, {1, 2, 4, 8, 16}))
    below(m, e, "2-para-wht", "1-para-wht", length);
  explain_order(m, e, "2-para-wht", "1-para-wht");
}

void k_t6_3(const Measured& m, Evidence& e) {
  for (const double length : compared(m, {1, 2, 4, 8, 16}))
    for (const char* other : kGaussian) below(m, e, "KERPLE-log", other, length);
}

void k_t6_4(const Measured& m, Evidence& e) {
  for (const char* arm : {"2-para-bias", "3-para-bias"})
    if (m.is_published())
      e.above(concat(arm, ": PPL 16 L / PPL L"), m.ratio(arm, 16), 10);
    else
      e.at_least(concat(arm, ": PPL 8 L / PPL L"), m.ratio(arm, 8), 1.3);
}

void k_t6_5(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    for (const char* arm : kGaussian)
      e.above(against(arm, "KERPLE-log", length), quotient(m, arm, "KERPLE-log", length), 1.1);
}

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
  for (const double length : kLengths) not_above(m, e, "KERPLE-log", "ALiBi", length);
}

void k_t9_4(const Measured& m, Evidence& e) {
  for (const double length : kLengths) below(m, e, "KERPLE-log", "T5", length);
}

void k_t9_5(const Measured& m, Evidence& e) {
  for (const double length : kLengths) below(m, e, "ALiBi", "T5", length);
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

const Output kChunks = {
    .form = Output::Form::table, .measure = "P2", .caption = "perplexity of chunks"};
const Output kLastToken = {
    .form = Output::Form::table, .measure = "P1", .caption = "perplexity of the last token"};

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
          .source = concat(kPaper, "table 3"),
          .datasets = kTexts,
          .few = {"github", "topic"},
          .has_spread = true,
          .arms = arms,
          .measures = {non_overlapping(kLengths),
                       last_token(),
                       {.key = "P2 chunks",
                        .protocol = "non-overlapping",
                        .lengths = kLengths,
                        .options = {{"budget", "same-chunks"}, {"chunks", "{chunks}"}}}},
          .outputs = {kChunks,
                      kLastToken,
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
          .remarks = {kFalls,
                      "The paper's marks of significance are lost; those beside our "
                      "numbers are our own."}};
}

Experiment kerple_table5() {
  return {.place = 330,
          .id = "kerple/table5",
          .title = "do more complicated kernels help?",
          .source = concat(kPaper, "table 5"),
          .datasets = kTexts,
          .few = {"github", "topic"},
          .has_spread = true,
          .arms = {bias_wht(), kerple_log3(), kerple_log()},
          .measures = {non_overlapping(kLengths), last_token()},
          .outputs = {kChunks, kLastToken},
          .findings = {{.claim = "K-T5-1", .check = k_t5_1, .asked = "within 3 percent"},
                       {.claim = "K-T5-2", .check = k_t5_2, .needs_steps = true},
                       {.claim = "kerple/table5/weight",
                        .check = weight_is_no_gain,
                        .statement = "a weight beside the bias is no more than 1 percent better "
                                     "than the log kernel"}},
          .reference = "kerple/table5",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {kFalls}};
}

Experiment kerple_table6() {
  return {.place = 340,
          .id = "kerple/table6",
          .title = "Gaussian-like kernels: as a weight or as a bias?",
          .source = concat(kPaper, "table 6"),
          .datasets = kTexts,
          .few = {"github", "topic"},
          .has_spread = true,
          .arms = {gauss_wht1(), gauss_wht2(), gauss_bias2(), gauss_bias3(), kerple_log()},
          .measures = {non_overlapping({1, 2, 4, 8, 16}), last_token()},
          .outputs = {kChunks, kLastToken},
          .findings = {{.claim = "K-T6-1",
                        .check = k_t6_1,
                        .on = Finding::On::text,
                        .asked = "the same at 8 L, on real text"},
                       {.claim = "K-T6-2", .check = k_t6_2, .asked = "the same beyond L"},
                       {.claim = "K-T6-3", .check = k_t6_3, .asked = "the same beyond L"},
                       {.claim = "K-T6-4",
                        .check = k_t6_4,
                        .on = Finding::On::text,
                        .asked = "at 8 L at least 1.3 times the value at L, on real text"},
                       {.claim = "K-T6-5", .check = k_t6_5}},
          .reference = "kerple/table6",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {"The weight exp(-r d^2) starts with r from 0 to 1 and is never below 0.01: a "
                      "few tokens at any training length.",
                      kFalls}};
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
          .source = concat(kPaper, "table 9, 162M"),
          .datasets = kTexts,
          .few = {"github", "topic"},
          .has_spread = true,
          .arms = arms_of_table9("162M", Size::base, 2),
          .measures = {non_overlapping({2, 4, 8, 16, 32}), last_token()},
          .outputs = {kChunks, kLastToken},
          .findings = {{.claim = "K-T9-1",
                        .check = k_t9_1,
                        .on = Finding::On::far,
                        .asked = "the same at 16 L, on text that rewards a long context"},
                       {.claim = "K-T9-2", .check = k_t9_2, .needs_steps = true}},
          .reference = "kerple/table9",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {kFalls}};
}

Experiment kerple_table9_large() {
  return {.place = 360,
          .id = "kerple/table9-1.3b",
          .title = "a larger model",
          .source = concat(kPaper, "table 9, 1.3B"),
          .datasets = kTexts,
          .few = {"github"},
          .has_spread = true,
          .arms = arms_of_table9("1.3B", Size::large, 1),
          .measures = {non_overlapping(kLengths), last_token()},
          .outputs = {kChunks, kLastToken},
          .findings = {{.claim = "K-T9-3", .check = k_t9_3},
                       {.claim = "K-T9-4", .check = k_t9_4},
                       {.claim = "K-T9-5", .check = k_t9_5},
                       {.claim = "K-T9-6", .check = k_t9_6}},
          .reference = "kerple/table9",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {"The paper explains its order by learned biases that overfit with a larger "
                      "model and noisier text.",
                      kFalls}};
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
          .source = concat(kPaper, "table 10"),
          .datasets = {"wikitext103"},
          .arms = arms,
          .measures = {non_overlapping(lengths),
                       {.key = "P3",
                        .protocol = "sliding",
                        .lengths = lengths,
                        .options = {{"stride", "1"}, {"max-tokens", "{32}"}}}},
          .outputs = {kChunks,
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

std::vector<Experiment> kerple_table3_rows() {
  return {kerple_table3(), kerple_table5(),       kerple_table6(),
          kerple_table9(), kerple_table9_large(), kerple_table10()};
}

}  // namespace farfield::sweep
