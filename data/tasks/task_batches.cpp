#include "data/tasks/task_batches.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {

TaskBatches::TaskBatches(std::shared_ptr<const Task> task, std::vector<int64_t> lengths,
                         int64_t batch_size, uint64_t seed, AnswersInInput answers)
    : task_(std::move(task)),
      lengths_(std::move(lengths)),
      batch_size_(batch_size),
      seed_(seed),
      answers_(answers) {
  require<ConfigError>(!lengths_.empty() && batch_size > 0, "task",
                       "bad_argument: expected a length and a batch size of at least 1, got ",
                       lengths_.size(), " lengths and ", batch_size);
  for (const int64_t length : lengths_) task_->tokens_of(length);
}

void append_row(const TaskSample& sample, std::vector<int32_t>& inputs,
                std::vector<int32_t>& targets, AnswersInInput answers) {
  for (size_t i = 0; i + 1 < sample.tokens.size(); ++i) {
    const bool is_hidden = answers == AnswersInInput::hidden && sample.is_output[i] != 0;
    inputs.push_back(is_hidden ? inputs.back() : sample.tokens[i]);
  }
  for (size_t i = 1; i < sample.tokens.size(); ++i)
    targets.push_back(sample.is_answer[i] != 0 ? sample.targets[i] : kNotScored);
}

Batch TaskBatches::batch(int64_t step) const {
  int64_t first = 0;
  require<ConfigError>(step >= 0 && !__builtin_mul_overflow(step, batch_size_, &first) &&
                           first <= INT64_MAX - batch_size_,
                       "task", "expected a step that can be counted, got ", step);
  const Random random{seed_, stream_of("task lengths")};
  const int64_t length =
      lengths_[random.below(static_cast<uint64_t>(step), static_cast<uint64_t>(lengths_.size()))];
  Batch batch;
  batch.seq_len = task_->tokens_of(length) - 1;
  for (int64_t i = first; i < first + batch_size_; ++i) {
    append_row(task_->sample(seed_, "train", length, i), batch.inputs, batch.targets, answers_);
    batch.rows.push_back({.source = 0, .index = i, .place = {}});
  }
  return batch;
}

}  // namespace farfield::data
