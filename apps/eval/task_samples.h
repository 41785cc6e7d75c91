#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/options.h"
#include "apps/eval/options.h"
#include "apps/eval/result.h"
#include "apps/eval/subject.h"
#include "data/tasks/task.h"

namespace farfield::eval {

/// Options of the protocols that read samples of the task that a model was trained on.
struct TaskOptions {
  std::optional<int64_t> samples;  ///< of each length; empty: the task's own number
  uint64_t seed = 0;               ///< of the test samples, the same for every model
  std::string task = {};           ///< tested instead of the task that a run was trained on
};

/// Declares the options.
void add_options(cli::Options& options, TaskOptions& own);
/// Refuses numbers out of range, and a task that there is not: ConfigError bad_argument.
void check(const TaskOptions& own);
/// The tokens of a length's samples, for Protocol::work.
double task_work(const TaskOptions& own, const CommonOptions& common, const std::string& trained,
                 int64_t length);

/// The test samples of a model's task.
class TaskSamples {
 public:
  /// ConfigError bad_argument, naming the protocol, for a model that was not trained on a task, and
  /// for another task whose tokens are not the first of those that the model knows.
  TaskSamples(std::string_view protocol, const Subject& subject, const CommonOptions& common,
              const TaskOptions& own);

  const data::Task& task() const { return *task_; }
  int64_t n_sample() const { return n_sample_; }  ///< of each length
  /// "task=copy(alphabet=2, eos=none) samples=128 seed=0"
  std::string parameters() const;
  /// The task's: the longest of training and its test lengths, unless --lengths gives others.
  std::vector<int64_t> lengths() const;

  struct Batch {
    std::vector<data::TaskSample> samples;
    std::vector<int32_t>
        targets;  ///< [n, T]: data::kNotScored, or the id to predict behind a place
    Tensor ids;   ///< int32 [n, T]: all tokens but the last
  };
  /// Calls pass() for the samples of a length, a batch at a time, on the model's device, and counts
  /// their tokens as work done.
  void in_batches(const Subject& subject, int64_t length,
                  const std::function<void(const Batch&)>& pass) const;

 private:
  const CommonOptions& common_;
  std::unique_ptr<const data::Task> task_;
  int64_t n_sample_;
  uint64_t seed_;
};

}  // namespace farfield::eval
