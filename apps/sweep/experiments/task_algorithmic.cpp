// Copying, reversing, sorting and filling a gap, with random positions, with an end of sequence and
// with random padding: Ruoss et al. 2023 (arXiv:2305.16843), Newman et al. 2020 (arXiv:2010.07174)
// and Tao et al. 2023 (arXiv:2305.04859), as the write-up on extending context retells them.

#include <array>
#include <cmath>

#include "apps/analysis/spread.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

constexpr std::array kTasks = {"copy", "reverse_string", "bucket_sort", "missing_duplicate_string"};
// Longer than any input that is tested.
constexpr const char* kRandomized = " + randomized(max_positions=2048)";

std::vector<Arm> usual_arms() { return {sinusoidal(), rotary(), alibi()}; }

std::string algorithmic_label(const Arm& arm, const char* task, bool is_random) {
  return concat(arm.label, is_random ? " randomized (" : " (", task, ')');
}

Arm algorithmic_arm(const Arm& of, const char* task, bool is_random) {
  Arm arm = on_task(of, task, task);
  arm.label = algorithmic_label(of, task, is_random);
  if (is_random) arm.posenc += kRandomized;
  return arm;
}

double random_gain(const Measured& m, const Arm& arm, const char* task) {
  return beyond(m, algorithmic_label(arm, task, true)) -
         beyond(m, algorithmic_label(arm, task, false));
}

void random_is_better(const Measured& m, Evidence& e) {
  for (const Arm& arm : usual_arms()) {
    std::vector<double> gains;
    for (const char* task : kTasks) gains.push_back(random_gain(m, arm, task));
    e.above(concat(arm.label,
                   ": share of right answers beyond the training lengths, randomized - "
                   "as usual, mean over tasks"),
            analysis::mean_of(gains), 0);
  }
}

constexpr double kTwice = 2.1;
double drop(const Measured& m, const std::string& arm) {
  return m.value(arm, kAnswers, "accuracy", 1) - m.value(arm, kAnswers, "accuracy", kTwice);
}

void copies_fail(const Measured& m, Evidence& e) {
  for (const char* task : {kTasks[0], kTasks[1]})
    for (const Arm& of : usual_arms()) {
      const std::string arm = algorithmic_label(of, task, false);
      for (const double length : {0.5, 1.0})
        e.above(concat(arm, ": share of right answers at ", length,
                       " times the longest training length"),
                m.value(arm, kAnswers, "accuracy", length), 0.95);
      e.at_least(concat(arm, ": share at the longest training length - at twice that"),
                 drop(m, arm), 0.2);
    }
}

void random_drops_less(const Measured& m, Evidence& e) {
  for (const char* task : {kTasks[0], kTasks[1]})
    for (const Arm& arm : {sinusoidal(), rotary()})
      e.below(concat(arm.label, ", ", task,
                     ": drop to twice the longest training length, randomized - as usual"),
              drop(m, algorithmic_label(arm, task, true)) -
                  drop(m, algorithmic_label(arm, task, false)),
              0);
}

Experiment algorithmic() {
  std::vector<Arm> arms;
  for (const char* task : kTasks)
    for (const bool is_random : {false, true})
      for (const Arm& arm : usual_arms()) arms.push_back(algorithmic_arm(arm, task, is_random));
  Experiment e =
      of_tasks(810, "context/algorithmic-15", "do random positions generalise to longer inputs?",
               kContextWriteUp, kSymbols, std::move(arms));
  e.measures = {answers_to_symbols()};
  for (const char* task : kTasks)
    e.outputs.push_back(share_by_length("accuracy", "share of right answers", {task}));
  e.findings = {
      own_finding("context/algorithmic-15/better", random_is_better,
                  "random positions raise the share of right answers beyond the training lengths, "
                  "on the mean of four tasks"),
      own_finding("context/algorithmic-15/copy", copies_fail,
                  "usual encodings copy and reverse more than 95 percent at the longest training "
                  "length and at least 20 points less at twice that"),
      own_finding("context/algorithmic-15/drop", random_drops_less,
                  "with random positions that drop is smaller, for rotary and sinusoidal")};
  e.remarks = {
      "Four of the fifteen tasks. Chance is 0.5, of bucket_sort 0.2. Answers are scored behind the "
      "right earlier ones. For ALiBi the distances are random. The published study has encoders."};
  return e;
}

constexpr std::array kEnded = {std::pair{"copy", "copy(eos=token)"},
                               std::pair{"reverse_string", "reverse_string(eos=token)"}};
std::string ended(const char* task) { return concat(task, " + EOS"); }
std::string with_end(const Arm& arm, const char* task) {
  return concat(arm.label, " + EOS (", task, ')');
}

void c_eos_1(const Measured& m, Evidence& e) {
  for (const auto& [task, with] : kEnded)
    for (const Arm& arm : usual_arms())
      e.at_most(
          concat(arm.label, ", ", task, ": difference of the scores with and without EOS"),
          std::abs(beyond(m, with_end(arm, task)) - beyond(m, algorithmic_label(arm, task, false))),
          0.1);
}

constexpr const char* kOracle = "accuracy_oracle";

void better_without_end(const Measured& m, Evidence& e) {
  for (const auto& [task, with] : kEnded)
    for (const Arm& arm : usual_arms())
      e.above(
          concat(arm.label, ", ", task,
                 ": score with the length given, trained without EOS - with EOS"),
          beyond(m, algorithmic_label(arm, task, false)) - beyond(m, with_end(arm, task), kOracle),
          0);
}

Experiment eos() {
  std::vector<Arm> arms;
  for (const auto& [task, with] : kEnded)
    for (const bool has_end : {false, true})
      for (const Arm& arm : usual_arms()) {
        arms.push_back(has_end ? on_task(arm, with, task) : algorithmic_arm(arm, task, false));
        if (has_end) arms.back().label = with_end(arm, task);
        if (has_end) arms.back().group = ended(task);
      }
  Experiment e = of_tasks(820, "context/eos", "does an end-of-sequence token matter?",
                          kContextWriteUp, kSymbols, std::move(arms));
  e.measures = {answers_to_symbols()};
  for (const auto& [task, with] : kEnded)
    e.outputs.insert(
        e.outputs.end(),
        {share_by_length("accuracy", "share of right answers", {task, ended(task)}),
         share_by_length(kOracle, "share of right answers with the length given", {ended(task)})});
  e.findings = {{.claim = "C-EOS-1",
                 .check = c_eos_1,
                 .asked = "the mean shares of right answers beyond the training lengths differ by "
                          "at most 0.1"},
                own_finding("context/eos/oracle", better_without_end,
                            "with the length of the output given, models trained without EOS give "
                            "more right answers beyond the training lengths")};
  e.remarks = {
      "EOS is one of the answers that are scored. With the length of the output given (oracle), "
      "it is not asked for; earlier answers are the right ones in any case."};
  return e;
}

// Inputs of the frame, which is that of the longest test: 2 units in, 2 units out.
constexpr const char* kFrame = "max_positions={4}";

Arm framed(const char* label, const std::string& posenc, bool is_padded) {
  Arm arm = on_task(arm_of(label, posenc, ""), "copy");
  arm.is_scaled = false;
  arm.group = is_padded ? "front" : "rear";
  if (is_padded) arm.posenc += concat(" + front_padding(", kFrame, ')');
  return arm;
}

void padding_is_better(const Measured& m, Evidence& e) {
  for (const char* name : {"Sinusoidal", "Learned"})
    e.above(concat(name,
                   ": share of right answers beyond the training lengths, padded in front - "
                   "behind"),
            beyond(m, concat(name, " padded in front")) - beyond(m, name), 0);
}

Experiment random_padding() {
  const std::string learned = concat("learned_abs(", kFrame, ')');
  Experiment e = of_tasks(
      830, "context/random-padding", "does random padding in front train late positions?",
      kContextWriteUp, kSymbols,
      {framed("Sinusoidal", "sinusoidal", false),
       framed("Sinusoidal padded in front", "sinusoidal", true), framed("Learned", learned, false),
       framed("Learned padded in front", learned, true)});
  std::vector<double> lengths = {1};
  for (int i = 1; i <= 5; ++i) lengths.push_back(1 + i / 5.0);
  e.measures = {answers(lengths, 128)};
  e.outputs = {share_by_length("accuracy", "share of right answers")};
  e.findings = {own_finding("context/random-padding/better", padding_is_better,
                            "absolute positions answer more beyond the training lengths if random "
                            "padding stands in front in training")};
  e.remarks = {
      "A frame of the longest test input: padding in front shifts the positions of a training "
      "sequence at random, padding behind leaves them. Padding is never attended to, so that no "
      "tokens stand for it. The paper pads short contexts for BERT."};
  return e;
}

}  // namespace

std::vector<Experiment> task_algorithmic_rows() { return {algorithmic(), eos(), random_padding()}; }

}  // namespace farfield::sweep
