// Parity of bits, which transformers do not learn to count beyond the lengths of their training:
// the limitation that the Sandwich paper names, and the forms of the task in the write-up on
// extending context.

#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

constexpr const char *kPlain = "plain", *kScratchpad = "scratchpad", *kPadded = "padded";

// Guessing is right half of the time.
void near_chance(const Measured& m, Evidence& e, const PlannedArm& arm) {
  e.within(concat(arm.label(), ": share of right answers beyond the training lengths"),
           beyond(m, arm), 0.5, 0.2)
      .half_width = half_width_beyond(m, arm);
}

std::vector<Arm> without_scratchpad(const std::string& group) {
  std::vector<Arm> arms;
  for (const Arm& arm :
       {sinusoidal(), rotary(), geometric_alibi(), t5(), kerple_log(), sandwich(), smoothed()})
    arms.push_back(on_task(arm, "parity", group));
  return arms;
}

void s_p_1(const Measured& m, Evidence& e) {
  for (const PlannedArm& arm : m.arms()) near_chance(m, e, arm);
}

Experiment sandwich_parity() {
  Experiment e =
      of_tasks(280, "sandwich/parity", "can any of them count modulo 2 beyond its training length?",
               "Sandwich (arXiv:2212.10356) limitations", kSymbols, without_scratchpad(""));
  e.measures = {answers_to_symbols()};
  e.outputs = {share_by_length("accuracy", "share of right answers")};
  e.findings = {{.claim = "S-P-1", .check = s_p_1}};
  e.remarks = {"Chance is 0.5. The paper prints no numbers; near means within 0.1."};
  return e;
}

void plain_is_chance(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms(kPlain))
    if (arm->arm.encoding != "sinusoidal" && arm->arm.encoding != "none") near_chance(m, e, *arm);
}

void without_bias_too(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms(kPlain))
    if (arm->arm.encoding == "none") near_chance(m, e, *arm);
}

void scratchpad_degrades(const Measured& m, Evidence& e) {
  for (const PlannedArm* arm : m.arms(kScratchpad))
    e.at_most(concat(arm->label(),
                     ": share of right answers beyond the training lengths - at the "
                     "longest of them"),
              beyond(m, *arm) - m.value(*arm, kAnswers, "accuracy", 1), -0.1);
}

constexpr const char* kMasked = "No distractors (padded)";

// Printed: whole samples.
void c_par_1(const Measured& m, Evidence& e) {
  const bool is_whole = m.is_published();
  for (const double length : m.experiment().measures.front().lengths)
    e.at_least(concat(kMasked, ": share of right ", is_whole ? "samples" : "answers", " at ",
                      length, " times the longest training length"),
               m.value(kMasked, kAnswers, is_whole ? "exact_match" : "accuracy", length), 0.99);
}

Experiment context_parity() {
  std::vector<Arm> arms = without_scratchpad(kPlain);
  const Arm none = arm_of("None", "none", "none");
  arms.push_back(on_task(none, "parity", kPlain));
  for (const Arm& arm : {none, rotary()})
    arms.push_back(on_task(arm, "parity(form=prefix)", "prefix"));
  for (const Arm& arm : {none, sinusoidal(), rotary(), geometric_alibi()})
    arms.push_back(on_task(arm, "parity(form=scratchpad)", kScratchpad));
  // An answer follows from the sum before it, which a query stands on, and a bit {3} tokens before.
  for (const Arm& arm : {rotary(), arm_of("No distractors", "rope + only_distances([0, {3}])", "")})
    arms.push_back(on_task(arm, "parity(form=padded, width={3})", kPadded));
  Experiment e = of_tasks(760, "context/parity", "which forms of parity can be learned?",
                          kContextWriteUp, kSymbols, std::move(arms));
  e.also = {"context/distractors"};
  e.measures = {answers_to_symbols()};
  for (const char* group : {kPlain, "prefix", kScratchpad, kPadded})
    e.outputs.push_back(
        share_by_length("accuracy", concat("share of right answers (", group, ")"), {group}));
  for (const char* group : {"prefix", kScratchpad, kPadded})
    e.outputs.push_back(share_by_length(
        "exact_match", concat("share of samples that are right as a whole (", group, ")"),
        {group}));
  e.findings = {
      {.claim = "C-PAR-1",
       .check = c_par_1,
       .asked = "at least 99 percent of the answers are right at every length"},
      own_finding("context/parity/chance", plain_is_chance,
                  "the plain form stays within 0.1 of chance beyond the training lengths, with "
                  "every relative encoding"),
      own_finding("context/parity/no-bias", without_bias_too,
                  "so it does without positions, so that it is not a bias for recent tokens alone"),
      own_finding("context/parity/scratchpad", scratchpad_degrades,
                  "with a scratchpad the share of right answers falls by at least 0.1 beyond the "
                  "training lengths")};
  e.remarks = {
      "Answers are scored behind the true sums so far. Plain and padded: chance is 0.5. Padded: "
      "bits and sums are filled to one length, so that the two tokens behind each answer have the "
      "same distances at every length. Without distractors attention sees these two alone."};
  return e;
}

}  // namespace

std::vector<Experiment> task_parity_rows() { return {sandwich_parity(), context_parity()}; }

}  // namespace farfield::sweep
