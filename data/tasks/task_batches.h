#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/loader.h"
#include "data/tasks/task.h"

namespace farfield::data {

/// Earlier answers in the input of a later one: shown to a decoder; hidden from an encoder, which
/// would see the answers that it is asked for, by the token before them in their place.
enum class AnswersInInput { shown, hidden };

/// The samples of a task as batches for training. batch(step) is a pure function of the
/// constructor's arguments and the step: a length, the same for all rows of the step, and new
/// samples of it. Copies share the task.
class TaskBatches {
 public:
  /// `lengths`: a step takes one of these, all with the same probability. ConfigError for no length
  /// and for a length that the task does not have.
  TaskBatches(std::shared_ptr<const Task> task, std::vector<int64_t> lengths, int64_t batch_size,
              uint64_t seed, AnswersInInput answers = AnswersInInput::shown);

  /// inputs: all tokens but the last; targets: the id to predict behind each, or kNotScored. rows:
  /// the number of each sample in the training.
  Batch batch(int64_t step) const;

 private:
  std::shared_ptr<const Task> task_;
  std::vector<int64_t> lengths_;
  int64_t batch_size_;
  uint64_t seed_;
  AnswersInInput answers_;
};

/// A sample as a row of inputs and a row of targets, each of tokens.size() - 1.
void append_row(const TaskSample& sample, std::vector<int32_t>& inputs,
                std::vector<int32_t>& targets, AnswersInInput answers = AnswersInInput::shown);

}  // namespace farfield::data
