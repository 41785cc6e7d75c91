#include "apps/eval/task_samples.h"

#include <algorithm>

#include "data/tasks/task_batches.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/transformer.h"

namespace farfield::eval {
namespace {

// The task to test: the trained one, or another one of the same tokens.
std::unique_ptr<const data::Task> tested_task(std::string_view protocol, const std::string& trained,
                                              const TaskOptions& own) {
  const std::string where = concat("eval:", protocol);
  require<ConfigError>(!trained.empty(), where,
                       "bad_argument: expected a run that was trained on a task (train --task), "
                       "got one that was trained on text");
  if (own.task.empty()) return data::make_task(trained);
  std::unique_ptr<const data::Task> task = data::make_task(own.task);
  const std::vector<std::string> known = data::make_task(trained)->vocabulary(),
                                 words = task->vocabulary();
  require<ConfigError>(
      words.size() <= known.size() && std::equal(words.begin(), words.end(), known.begin()), where,
      "bad_argument: --task ", task->canonical(), ": expected a task of the tokens ", joined(known),
      ", which the model was trained on (", trained, "), got one of ", joined(words));
  return task;
}

}  // namespace

void add_options(cli::Options& options, TaskOptions& own) {
  options.group("Answers to a task")
      .add("task", own.task, "NAME(...)",
           "test another task of the same tokens, such as \"flip_flop(p_i=0.98)\" (default: the "
           "task that the run was trained on)")
      .add("task-samples", own.samples, "N", "samples of each length (default: the task's own)")
      .add("task-seed", own.seed, "N", "seed of the test samples, the same for every run");
}

void check(const TaskOptions& own) {
  if (own.samples) check_positive("task", "task-samples", *own.samples);
  if (!own.task.empty()) data::make_task(own.task);
}

double task_work(const TaskOptions& own, const CommonOptions& common, const std::string& trained,
                 int64_t length) {
  if (trained.empty() || !common.are_lengths_given) return 0;
  const auto task = data::make_task(own.task.empty() ? trained : own.task);
  return static_cast<double>(own.samples.value_or(task->lengths().n_test) *
                             (task->tokens_of(length) - 1));
}

TaskSamples::TaskSamples(std::string_view protocol, const Subject& subject,
                         const CommonOptions& common, const TaskOptions& own)
    : common_(common),
      task_(tested_task(protocol, subject.model.task, own)),
      n_sample_(own.samples.value_or(task_->lengths().n_test)),
      seed_(own.seed) {}

std::string TaskSamples::parameters() const {
  return concat("task=", task_->canonical(), " samples=", n_sample_, " seed=", seed_);
}

std::vector<int64_t> TaskSamples::lengths() const {
  if (common_.are_lengths_given) return common_.lengths;
  const data::LengthSplit own = task_->lengths();
  std::vector<int64_t> lengths = {*std::max_element(own.train.begin(), own.train.end())};
  for (const int64_t length : own.test)
    if (length != lengths.front()) lengths.push_back(length);
  return lengths;
}

void TaskSamples::in_batches(const Subject& subject, int64_t length,
                             const std::function<void(const Batch&)>& pass) const {
  const int64_t n_input = task_->tokens_of(length) - 1;
  const auto answers = subject.model.transformer->config().sees_later ? data::AnswersInInput::hidden
                                                                      : data::AnswersInInput::shown;
  eval::in_batches(n_sample_, n_input, common_, [&](int64_t first, int64_t n) {
    Batch batch;
    std::vector<int32_t> inputs;
    for (int64_t i = first; i < first + n; ++i) {
      batch.samples.push_back(task_->sample(seed_, "test", length, i));
      data::append_row(batch.samples.back(), inputs, batch.targets, answers);
    }
    batch.ids = Tensor::from(inputs, {n, n_input}, subject.model.device);
    pass(batch);
    subject.session.pass(n * n_input);
  });
}

}  // namespace farfield::eval
