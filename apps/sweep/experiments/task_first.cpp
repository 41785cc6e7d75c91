// FIRST: the first of many bits, which attention has to find among distractors.
// Chiang and Cholak 2022, "Overcoming a Theoretical Limitation of Self-Attention",
// arXiv:2202.12172, as the write-up on extending context retells it.

#include <array>
#include <cmath>

#include "apps/analysis/line_fit.h"
#include "apps/analysis/spread.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

constexpr TaskUnit kShort = {.smoke = 4, .tiny = 8, .published = 30};
constexpr std::array kStrings = {std::pair{"short", 1.0}, std::pair{"long", 3.0}};  // in training
const std::vector<double> kTestLengths = {8, 16, 32, 128};
constexpr const char *kPlainScores = "unscaled", *kScaledScores = "log n";
constexpr const char *kAttention = "attention", *kBestHead = "best_head";
constexpr std::array kNames = {"None", "Rotary", "ALiBi"};

// As in the published study, but for what stands at the beginning there.
Arm encoder() {
  Arm arm = arm_of("Rotary encoder", "rope", "");
  arm.training = {{"mask", "none"}};
  return arm;
}

std::string first_label(const std::string& name, bool is_scaled, const char* strings) {
  return concat(name, is_scaled ? " + log n (" : " (", strings, ')');
}

// The mean over the test lengths.
double at_test_lengths(const Measured& m, const std::string& arm, const char* quantity) {
  std::vector<double> values;
  for (const double length : kTestLengths)
    values.push_back(m.value(arm, kAnswers, quantity, length));
  return analysis::mean_of(values);
}

// What the scaling adds, for an encoding.
double scaling_gain(const Measured& m, const char* name, const char* strings,
                    const char* quantity) {
  return at_test_lengths(m, first_label(name, true, strings), quantity) -
         at_test_lengths(m, first_label(name, false, strings), quantity);
}

// Of each encoding, or of their mean: the smallest models do not differ in all of them.
void c_first_1(const Measured& m, Evidence& e) {
  for (const auto& [strings, units] : kStrings) {
    std::vector<double> gains;
    for (const char* name : kNames) {
      const double gain = gains.emplace_back(scaling_gain(m, name, strings, "accuracy"));
      const std::string what =
          concat(name, ", trained on ", strings, " strings: accuracy with log n - without");
      if (!m.is_published()) continue;
      if (gain == 0 && at_test_lengths(m, first_label(name, false, strings), "accuracy") == 1)
        e.undecided(what, gain, "all answers are right with and without it");
      else
        e.above(what, gain, 0);
    }
    if (!m.is_published())
      e.above(concat("trained on ", strings,
                     " strings: accuracy with log n - without, mean over encodings"),
              analysis::mean_of(gains), 0);
  }
}

void falls_with_length(const Measured& m, Evidence& e) {
  for (const char* name : kNames)
    for (const auto& [strings, units] : kStrings) {
      const std::string arm = first_label(name, false, strings);
      e.below(concat(arm, ": accuracy at ", kTestLengths.back(), " - at ", kTestLengths.front(),
                     " times the shorter training length"),
              m.value(arm, kAnswers, "accuracy", kTestLengths.back()) -
                  m.value(arm, kAnswers, "accuracy", kTestLengths.front()),
              0);
    }
  for (const char* name : kNames)
    e.below(concat(name, ": accuracy of the model of short strings - of long strings"),
            at_test_lengths(m, first_label(name, false, "short"), "accuracy") -
                at_test_lengths(m, first_label(name, false, "long"), "accuracy"),
            0);
}

void scaled_is_better(const Measured& m, Evidence& e) {
  for (const auto& [strings, units] : kStrings) {
    std::vector<double> bits;
    for (const char* name : kNames)
      bits.push_back(scaling_gain(m, name, strings, "bits_per_answer"));
    e.below(concat("trained on ", strings,
                   " strings: bits per answer with log n - without, mean "
                   "over encodings"),
            analysis::mean_of(bits), 0);
  }
}

// The slope of the attention on the first bit against the number of bits, in logarithms.
double attention_slope(const Measured& m, const std::string& arm) {
  std::vector<double> x, y;
  for (const double length : kTestLengths) {
    x.push_back(std::log(length));
    y.push_back(std::log(m.value(arm, kAttention, kBestHead, length)));
    if (!std::isfinite(y.back())) return std::nan("");
  }
  return analysis::fit_line(x, y).slope;
}

void attention_decays(const Measured& m, Evidence& e) {
  for (const auto& [strings, units] : kStrings) {
    std::vector<double> unscaled, scaled;
    for (const char* name : kNames) {
      unscaled.push_back(attention_slope(m, first_label(name, false, strings)));
      scaled.push_back(attention_slope(m, first_label(name, true, strings)));
    }
    const std::string what = concat("trained on ", strings, " strings, log-log slope ");
    e.below(concat(what, "without, mean over encodings"), analysis::mean_of(unscaled), -0.5);
    e.above(concat(what, "with log n - without"),
            analysis::mean_of(scaled) - analysis::mean_of(unscaled), 0);
  }
}

}  // namespace

std::vector<Experiment> task_first_rows() {
  std::vector<Arm> arms;
  for (const bool is_scaled : {false, true})
    for (const auto& [strings, units] : kStrings)
      for (Arm arm : {arm_of(kNames[0], "none", "none"), rotary(), alibi(), encoder()}) {
        const std::string name = arm.label;
        if (is_scaled) arm.posenc += " + log_n(mode=raw)";
        arm = on_task(arm, "first");
        arm.label = first_label(name, is_scaled, strings);
        arm.group = is_scaled ? kScaledScores : kPlainScores;
        arm.train_len = units;
        arm.task_lengths = concat('{', units, '}');
        arm.steps = 0.046875;  // 3000 strings at tiny
        arm.batch = 0.5;
        arms.push_back(arm);
      }
  Experiment e = of_tasks(770, "context/first", "does log n scaling find the first of many bits?",
                          kContextWriteUp, kShort, std::move(arms));
  const std::vector<double> lengths = {1, 3, 8, 16, 32, 128};
  e.measures = {answers(lengths, 200),
                {.key = kAttention,
                 .protocol = "source-attention",
                 .lengths = lengths,
                 .options = {{"task-samples", "200"}}}};
  for (const char* group : {kPlainScores, kScaledScores})
    e.outputs.push_back(
        share_by_length("accuracy", concat("share of right answers (", group, ")"), {group}));
  for (const char* group : {kPlainScores, kScaledScores})
    e.outputs.push_back(
        share_by_length("bits_per_answer", concat("bits per answer (", group, ")"), {group}));
  for (const char* group : {kPlainScores, kScaledScores}) {
    Output& output = e.outputs.emplace_back(share_by_length(
        kBestHead, concat("attention on the first bit, of the best head (", group, ")"), {group}));
    output.measure = kAttention;
    output.is_log_x = true;
    output.may_log_y = true;
  }
  e.findings = {
      {.claim = "C-FIRST-1",
       .check = c_first_1,
       .asked = "the mean over three encodings, at both training lengths"},
      own_finding("context/first/falls", falls_with_length,
                  "without scaling accuracy falls with the length, and models of short strings "
                  "fail more than models of long ones"),
      own_finding("context/first/bits", scaled_is_better,
                  "log n scaling lowers the cross-entropy beyond the training lengths"),
      own_finding("context/first/attention", attention_decays,
                  "the attention on the first bit falls about as one over the number of bits "
                  "(log-log slope below -0.5, mean over encodings), and less with log n scaling")};
  e.remarks = {
      "A model is trained on strings of one length. The published study has encoders that look at "
      "the beginning; here all answer at the end, from all bits, and most are decoders. Scores are "
      "multiplied by the "
      "logarithm of the number of tokens, as there, in training too."};
  return {e};
}

}  // namespace farfield::sweep
