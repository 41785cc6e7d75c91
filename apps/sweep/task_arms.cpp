#include "apps/sweep/task_arms.h"

#include <cmath>
#include <utility>

#include "apps/analysis/spread.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

std::vector<double> values_beyond(const Measured& m, const PlannedArm& arm,
                                  const std::string& quantity) {
  std::vector<double> values;
  for (const Measure& measure : m.experiment().measures) {
    if (measure.key != kAnswers) continue;
    for (const double length : measure.lengths)
      if (length > arm.arm.train_len) values.push_back(m.value(arm, kAnswers, quantity, length));
  }
  return values;
}

}  // namespace

Arm on_task(Arm arm, const std::string& task, const std::string& group) {
  arm.task = task;
  arm.size = Size::algorithmic;
  arm.group = group;
  if (!group.empty()) arm.label += concat(" (", group, ')');
  return arm;
}

Measure answers(std::vector<double> lengths, int64_t samples, const std::string& key) {
  return {.key = key,
          .protocol = "task",
          .lengths = std::move(lengths),
          .options = {{"task-samples", std::to_string(samples)}}};
}

Measure answers_to_symbols() {
  std::vector<double> lengths = {0.5, 1};
  for (int i = 11; i < 30; i += 2) lengths.push_back(i / 10.0);
  return answers(lengths, 128);
}

Output share_by_length(const std::string& quantity, const std::string& caption,
                       const std::vector<std::string>& groups) {
  return {.form = Output::Form::table,
          .measure = kAnswers,
          .quantity = quantity,
          .caption = caption,
          .is_log_x = false,
          .may_log_y = false,
          .groups = groups};
}

double beyond(const Measured& m, const PlannedArm& arm, const std::string& quantity) {
  return analysis::mean_of(values_beyond(m, arm, quantity));
}

double half_width_beyond(const Measured& m, const PlannedArm& arm) {
  double squares = 0;
  const std::vector<double> errors = values_beyond(m, arm, "exact_match_error");
  for (const double error : errors) squares += error * error;
  return 1.96 * std::sqrt(squares) / static_cast<double>(errors.size());
}

double beyond(const Measured& m, const std::string& arm, const std::string& quantity) {
  const PlannedArm* const found = m.arm(arm);
  return found == nullptr ? std::nan("") : beyond(m, *found, quantity);
}

Experiment of_tasks(int place, const std::string& id, const std::string& title,
                    const std::string& source, const TaskUnit& unit, std::vector<Arm> arms) {
  return {.place = place,
          .id = id,
          .title = title,
          .source = source,
          .datasets = {},
          .unit = unit,
          .arms = std::move(arms)};
}

}  // namespace farfield::sweep
