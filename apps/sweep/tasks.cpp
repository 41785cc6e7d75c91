#include "apps/sweep/tasks.h"

#include "apps/cli/lists.h"
#include "apps/cli/option.h"
#include "apps/eval/protocol.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/placeholders.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

std::string task_protocols() {
  std::vector<std::string> names;
  for (const eval::Protocol& protocol : eval::protocols())
    if (protocol.needs_task) names.push_back(protocol.name);
  return joined(names);
}

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
    const eval::Protocol& protocol = eval::protocol_named(measure.protocol);
    require<ConfigError>(!is_of_tasks || !protocol.has_text, kWhere, experiment.id, ": ",
                         measure.protocol, ": expected a protocol for models of a task (",
                         task_protocols(), "), got one that reads text");
    require<ConfigError>(is_of_tasks || !protocol.needs_task, kWhere, experiment.id, ": ",
                         measure.protocol,
                         ": expected a protocol for models of text, got one for models that were "
                         "trained on a task");
  }
}

void set_task(run::RunConfig& config, const Arm& arm, Scale scale, int64_t unit) {
  config.task = with_tokens(scale, unit, arm.task);
  config.task_lengths = cli::split_list(with_tokens(scale, unit, arm.task_lengths));
  config.train_len.reset();  // the longest input of the task
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
