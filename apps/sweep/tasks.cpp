#include "apps/sweep/tasks.h"

#include "apps/cli/lists.h"
#include "apps/cli/option.h"
#include "apps/eval/protocol.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/placeholders.h"
#include "data/tasks/task.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep", kTaskProtocol = "task";

}  // namespace

const PlannedDataset& tasks_dataset() {
  static const PlannedDataset dataset = {"tasks", "tasks", "", false, /*is_of_tasks=*/true};
  return dataset;
}

void check_tasks(const Experiment& experiment) {
  const bool is_of_tasks = experiment.is_of_tasks();
  for (const Arm& arm : experiment.arms)
    require<ConfigError>(arm.task.empty() != is_of_tasks, kWhere, experiment.id, ", ", arm.label,
                         ": expected a task, as other models of the experiment have, got none");
  for (const Measure& measure : experiment.measures) {
    const bool has_text = eval::protocol_named(measure.protocol).has_text;
    require<ConfigError>(!is_of_tasks || !has_text, kWhere, experiment.id, ": ", measure.protocol,
                         ": expected a protocol for models of a task (", kTaskProtocol,
                         "), got one that reads text");
    require<ConfigError>(is_of_tasks || measure.protocol != kTaskProtocol, kWhere, experiment.id,
                         ": ", measure.protocol,
                         ": expected a protocol for models of text, got one for models that were "
                         "trained on a task");
  }
}

void set_task(run::RunConfig& config, const Arm& arm, Scale scale, int64_t unit) {
  config.task = with_tokens(scale, unit, arm.task);
  config.task_lengths = cli::split_list(with_tokens(scale, unit, arm.task_lengths));
  config.train_len.reset();  // the longest input of the task
}

double mean_length(const run::ResolvedConfig& config) {
  if (config.task.empty()) return static_cast<double>(config.longest());
  const std::unique_ptr<const data::Task> task = data::make_task(config.task);
  double sum = 0;
  for (const int64_t length : config.task_lengths)
    sum += static_cast<double>(task->tokens_of(length) - 1);
  return sum / static_cast<double>(config.task_lengths.size());
}

std::string task_names(const std::vector<const PlannedArm*>& arms) {
  std::vector<std::string> names;
  for (const PlannedArm* arm : arms)
    cli::add_new(names, arm->arm.task.substr(0, arm->arm.task.find('(')));
  return joined(names);
}

std::vector<std::string> task_facts(const Plan& plan, const Results& results) {
  std::vector<std::string> facts;
  for (const Cell& cell : plan.cells) {
    const auto of = [&](const char* key) { return run::value_of(cell.training, key); };
    cli::add_new(facts, concat("task: ", cell.corpus, ", trained on lengths ", of("task-lengths"),
                               "; ", of("n-layer"), " layers, ", of("n-head"), " heads, width ",
                               of("d-model"), "; ", of("steps"), " steps of ", of("batch"),
                               " samples, peak learning rate ", of("lr")));
  }
  const Measured m(plan, plan.datasets.front(), results);
  for (const Measure& measure : plan.experiment->measures)
    for (const PlannedArm& arm : plan.arms)
      for (size_t seed = 0; seed < plan.seeds.size(); ++seed)
        if (const eval::ProtocolResult* const found = m.result(arm, measure.key, seed))
          cli::add_new(facts, concat("measured: ", found->parameters, " (protocol ",
                                     found->protocol, ", ", found->hash(), ')'));
  return facts;
}

}  // namespace farfield::sweep
