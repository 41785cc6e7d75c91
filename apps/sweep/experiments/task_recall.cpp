// Associative recall: how many pairs linear attention holds beside softmax.
// Schlag, Irie and Schmidhuber 2021, "Linear Transformers Are Secretly Fast Weight Programmers",
// arXiv:2102.11174, sections 4.1 and 6.1, as the write-up on extending context quotes them.

#include <array>
#include <utility>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/task_arms.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

constexpr TaskUnit kMostPairs = {.smoke = 64, .tiny = 128, .published = 128};
constexpr const char* kSoftmax = "Softmax";
// The second has the learning rate and the steps that were better for it.
constexpr std::array kLinear = {"Linear", "Linear, tuned"};
constexpr std::array kShares = {0.0625, 0.125, 0.25, 0.5, 1.0};  // of the most pairs
constexpr int64_t kKeyWidth = 32;                                // coordinates of a key

// One layer with one head, whose memory is all that can hold the pairs.
Arm recalling(const char* label, const char* posenc) {
  Arm arm =
      on_task(arm_of(label, posenc, ""), "recall(keys={1}, values=8, questions=16, form=joined)");
  arm.task_lengths = "{0.015625},{0.03125},{0.0625},{0.125},{0.25},{0.5},{1}";
  arm.training = {{"n-layer", "1"}, {"n-head", "1"}, {"d-model", "32"}, {"lr", "0.002"}};
  arm.steps = 0.375;  // 3000 at tiny
  arm.batch = 2;
  return arm;
}

double recalled(const Measured& m, const char* arm, double share) {
  return m.value(arm, kAnswers, "accuracy", share);
}

int64_t pairs_of(const Measured& m, double share) { return tokens_of(m.plan().unit, share); }

std::string answers_of(const Measured& m, const char* arm, double share) {
  return concat(arm, ": share of right answers at ", pairs_of(m, share), " pairs");
}

void softmax_recalls(const Measured& m, Evidence& e) {
  for (const double share : kShares)
    e.at_least(answers_of(m, kSoftmax, share), recalled(m, kSoftmax, share), 0.95);
}

void linear_loses(const Measured& m, Evidence& e) {
  for (const double share : kShares)
    for (const char* linear : kLinear)
      if (pairs_of(m, share) > kKeyWidth)
        e.at_most(concat(answers_of(m, linear, share), " - of softmax"),
                  recalled(m, linear, share) - recalled(m, kSoftmax, share), -0.2);
}

void linear_recalls_within(const Measured& m, Evidence& e) {
  for (const double share : kShares)
    for (const char* linear : kLinear)
      if (pairs_of(m, share) <= kKeyWidth)
        e.at_least(answers_of(m, linear, share), recalled(m, linear, share), 0.95);
}

}  // namespace

std::vector<Experiment> task_recall_rows() {
  Arm tuned = recalling(kLinear[1], "linear_attention");
  tuned.training.back().second = "0.005";
  tuned.steps *= 2;
  Experiment e = of_tasks(
      840, "context/linear-capacity", "how many pairs does linear attention hold?", kContextWriteUp,
      kMostPairs, {recalling(kSoftmax, "none"), recalling(kLinear[0], "linear_attention"), tuned});
  e.measures = {answers({kShares.begin(), kShares.end()}, 500)};
  e.measures[0].options.emplace_back("task", "recall(keys={1}, values=8, form=joined)");
  for (const auto& [quantity, caption] : {std::pair{"accuracy", "share of right answers"},
                                          std::pair{"bits_per_answer", "bits per answer"}}) {
    e.outputs.push_back(share_by_length(quantity, caption));
    e.outputs.back().is_log_x = true;
  }
  e.findings = {
      own_finding("context/linear-capacity/softmax", softmax_recalls,
                  "softmax answers at least 95 percent at every number of pairs up to 128"),
      own_finding("context/linear-capacity/linear", linear_loses,
                  "beyond 32 pairs, the width of its keys, linear attention answers at least 20 "
                  "points less than softmax"),
      own_finding("context/linear-capacity/within", linear_recalls_within,
                  "up to 32 pairs linear attention answers at least 95 percent")};
  e.remarks = {
      "One layer with one head, whose keys have 32 coordinates, and no positions. A token stands "
      "for a pair, as in the published study; the write-up's task has a token for the key and one "
      "for the value. There are 8 values instead of 128: chance is 0.125. All models train on one "
      "mixture of 2, 4, ..., 128 pairs, and a training sequence asks for up to 16 of its keys; a "
      "test asks for one. The tuned model has learning rate 0.005 and twice the steps."};
  return {e};
}

}  // namespace farfield::sweep
