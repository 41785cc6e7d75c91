#include "apps/sweep/plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <set>
#include <unordered_map>

#include "apps/cli/option.h"
#include "apps/eval/baseline.h"
#include "apps/eval/protocol.h"
#include "apps/run/resolved_config.h"
#include "apps/run/training_data.h"
#include "apps/sweep/given_run.h"
#include "apps/sweep/placeholders.h"
#include "apps/sweep/tasks.h"
#include "apps/sweep/work.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

std::vector<int64_t> lengths_of(const Measure& measure, int64_t unit) {
  std::vector<int64_t> lengths;
  for (const double units : measure.lengths)
    lengths.push_back(tokens_of(unit, units) + measure.offset);
  return lengths;
}

int64_t of_profile(Scale scale, eval::Amount amount, bool is_long) {
  const Profile& p = profile_of(scale);
  switch (amount) {
    case eval::Amount::predictions:
      return is_long ? p.long_segments : p.segments;
    case eval::Amount::cached_predictions:
      return p.cached_segments;
    case eval::Amount::gradients:
      return p.gradient_segments;
    case eval::Amount::sequences:
      return p.sequences;
    case eval::Amount::text_tokens:
      return p.max_tokens;
    case eval::Amount::timings:
      return p.timed_steps;
  }
  return 0;
}

// A profile's options for a protocol, for options that its measure leaves open.
run::Settings profile_options(const eval::Protocol& protocol, Scale scale, bool is_long) {
  run::Settings options;
  for (const eval::AmountOption& option : protocol.amounts)
    options.emplace_back(option.name, std::to_string(of_profile(scale, option.amount, is_long)));
  return options;
}

bool is_of(const Arm& arm, Scale scale) {
  return arm.scales == Arm::Scales::all ||
         (arm.scales == Arm::Scales::published) == has_published_thresholds(scale);
}

std::string expression_of(const Experiment& e, const Arm& arm, const std::string& expression,
                          const PlanOptions& options) {
  if (options.given) return on_given(*options.given, e, arm, expression);
  return arm.is_scaled ? expression_at(options.scale, expression, arm.meant_for) : expression;
}

int64_t unit_of(const Experiment& e, const PlanOptions& options) {
  if (options.given) return options.given->train_len();
  const int64_t of_task = has_published_thresholds(options.scale) ? e.unit.published
                          : options.scale == Scale::tiny          ? e.unit.tiny
                                                                  : e.unit.smoke;
  return of_task > 0 ? of_task : profile_of(options.scale).unit;
}

std::vector<PlannedDataset> datasets_of(const Experiment& e, const PlanOptions& options) {
  if (e.is_of_tasks() && !options.on.empty()) return {};
  if (e.is_of_tasks()) return {tasks_dataset()};
  const bool is_whole = has_published_thresholds(options.scale);
  std::vector<std::string> names;
  const auto take = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (is_whole) {
    for (const std::string& name : e.datasets) take(name);
  } else if (e.few.empty()) {
    take(e.datasets.front());
  }
  for (const std::string& name : e.few)
    if (!is_whole || (options.scale == Scale::small && is_synthetic(name))) take(name);
  std::vector<PlannedDataset> all;
  // A model of the published size is not trained on a text that stands for nothing.
  if (options.scale == Scale::brief) {
    std::vector<std::string> given = names;
    std::erase_if(
        given, [&](const std::string& name) { return options.datasets.names().count(name) == 0; });
    if (!given.empty()) names = given;
  }
  for (const std::string& name : names) {
    const bool is_wanted = options.on.empty() || std::find(options.on.begin(), options.on.end(),
                                                           name) != options.on.end();
    if (!is_wanted) continue;
    const std::string corpus = options.datasets.corpus_of(name);
    const auto same = std::find_if(all.begin(), all.end(), [&](const PlannedDataset& other) {
      return other.corpus == corpus;
    });
    if (same != all.end()) {
      same->name += ", " + name;
      continue;
    }
    const auto& known = options.datasets.corpora();
    const auto found = known.find(corpus);
    all.push_back(
        {name, corpus, found == known.end() ? "" : found->second.hash, is_synthetic(name)});
  }
  return all;
}

// Resolved for the device of a sweep. Only who makes a cell has to have it: a sweep on a card is
// planned, merged and reported by a build for the CPU alone, too.
run::ResolvedConfig resolved_for(const std::string& device, run::RunConfig c) {
  c.device = "cpu";
  if (!c.precision) c.precision = device == "cpu" ? "fp32" : "bf16";
  run::ResolvedConfig config = run::resolve(c);
  for (auto& [name, value] : config.settings)
    if (name == "device") value = device;
  return config;
}

std::string path_of(const PlannedDataset& dataset, const PlanOptions& options) {
  const auto known = options.datasets.corpora().find(dataset.corpus);
  return known == options.datasets.corpora().end() ? dataset.corpus : known->second.path;
}

// Of the given run, which is there.
run::ResolvedConfig config_of_given(const PlannedArm& arm, const PlannedDataset& dataset,
                                    const PlanOptions& options) {
  require<Error>(arm.posenc == options.given->posenc(), kWhere, "expected a fine-tune or the ",
                 "encoding of the given run, got ", arm.posenc);
  run::RunConfig c = itself(*options.given);
  c.data = {path_of(dataset, options)};
  return resolved_for(options.device, c);
}

run::ResolvedConfig config_of(const PlannedArm& arm, const PlannedDataset& dataset,
                              const PlanOptions& options, int64_t unit, uint64_t seed,
                              const Cell* base) {
  run::RunConfig c = training_of(options.scale, arm.arm.size, arm.arm.train_len, arm.arm.steps);
  c.batch = std::max<int64_t>(1, std::llround(static_cast<double>(*c.batch) * arm.arm.batch));
  c.posenc = arm.posenc;
  c.seed = seed + uint64_t{kMostSeeds} * arm.arm.draw;  // draws of no two seeds are the same
  if (arm.arm.task.empty())
    c.data = {path_of(dataset, options)};
  else
    set_task(c, arm.arm, options.scale, unit);
  if (!arm.arm.training.empty()) {
    cli::Options more("train", "");
    run::add_options(more, c);
    run::Settings settings;
    for (const auto& [key, value] : arm.arm.training)
      settings.emplace_back(key, with_tokens(options.scale, unit, value));
    more.read_config("the arm's training", settings);
  }
  if (base != nullptr) {
    const run::ResolvedConfig from =
        resolved_for("cpu", run::to_run_config("the base", base->training));
    c.init_from = c.init_hash = base->hash();
    c.init_step = from.steps;
    c.posenc =
        run::canonical_posenc(c.posenc, from);  // its lengths are what the weights are used to
  }
  if (options.given) {
    start_from(*options.given, arm.posenc, c);
    c.batch = sequences_of(options.scale, unit, *c.batch);
  }
  return resolved_for(options.device, c);
}

// Before hours of training.
void require_fits(const eval::Protocol& protocol, const run::ResolvedConfig& config) {
  require<ConfigError>(protocol.is_of_masked == config.is_masked(), kWhere, protocol.name,
                       ": expected ",
                       protocol.is_of_masked ? "an encoder on text (--mask none), got another model"
                                             : "a causal model, got an encoder on text");
}

// The cell that an arm starts from, of this data set and seed; null: none.
std::shared_ptr<const Cell> base_of(const Plan& plan, const PlannedArm& arm,
                                    const PlannedDataset& dataset, uint64_t seed) {
  if (arm.arm.starts_from.empty() || plan.given) return nullptr;
  for (size_t i = 0; i < plan.arms.size(); ++i) {
    if (plan.arms[i].label() != arm.arm.starts_from) continue;
    const auto at_dataset = static_cast<size_t>(&dataset - plan.datasets.data());
    const auto at_seed = static_cast<size_t>(std::find(plan.seeds.begin(), plan.seeds.end(), seed) -
                                             plan.seeds.begin());
    const size_t at = (at_dataset * plan.arms.size() + i) * plan.seeds.size() + at_seed;
    require<ConfigError>(at < plan.cells.size(), kWhere, "expected the arm '", arm.arm.starts_from,
                         "' before the arm that starts from it");
    auto base = std::make_shared<Cell>(plan.cells[at]);
    base->measurements.clear();
    return base;
  }
  fail<ConfigError>(kWhere, "expected an arm '", arm.arm.starts_from, "' to start from, got none");
}

}  // namespace

std::string Measurement::id() const {
  run::Settings all = {{"protocol", protocol}, {"posenc", posenc}};
  if (drop_learned) all.emplace_back("drop-learned", "true");
  all.insert(all.end(), options.begin(), options.end());
  return hash_hex(run::to_text(all)).substr(0, 16);
}

std::string Measurement::family() const {
  Measurement all = *this;
  all.options = run::without(options, {"lengths"});
  return all.id();
}

run::Settings Cell::key() const {
  // Options that are younger than a cell do not change its name.
  static const run::Settings defaults = run::identity(run::resolve(run::RunConfig{}).settings);
  run::Settings key;
  for (const auto& [name, value] : run::identity(training))
    if (run::value_of(defaults, name) != value) key.emplace_back(name, value);
  key.emplace_back("corpus", corpus_hash);
  return key;
}

std::string Cell::hash() const {
  // Resolving the settings costs a hundred times more than this text, and reports ask for the same
  // cells again and again.
  static std::mutex mutex;
  static std::unordered_map<std::string, std::string> known;
  std::string text = run::to_text(training) + corpus_hash;
  const std::lock_guard<std::mutex> lock(mutex);
  std::string& hash = known[std::move(text)];
  if (hash.empty()) hash = hash_hex(run::to_text(key())).substr(0, 16);
  return hash;
}

uint64_t Cell::seed() const {
  return std::strtoull(run::value_of(training, "seed").c_str(), nullptr, 10);
}

bool Cell::has_task() const { return !run::value_of(training, "task").empty(); }

std::string Cell::label() const {
  const auto of = [&](const char* key) { return run::value_of(training, key); };
  const std::string run = std::filesystem::path(of("init-from")).filename().string();
  const std::string from = base != nullptr ? run::value_of(base->training, "posenc") : run;
  return concat(given_name.empty() ? of("posenc") : given_name, " on ", corpus, ", L ",
                of("train-len"), ", seed ", seed(),
                from.empty() ? ""
                : is_given   ? concat(", ", run, " at step ", of("init-step"))
                             : concat(", ", of("steps"), " steps from ", from));
}

void Cell::add(const std::vector<Measurement>& more) {
  for (const Measurement& m : more)
    if (std::none_of(measurements.begin(), measurements.end(),
                     [&](const Measurement& own) { return own.id() == m.id(); }))
      measurements.push_back(m);
}

Measurement Plan::measurement(const std::string& key, const PlannedArm& arm,
                              const PlannedDataset& dataset) const {
  const auto measure = std::find_if(experiment->measures.begin(), experiment->measures.end(),
                                    [&](const Measure& m) { return m.key == key; });
  require<Error>(measure != experiment->measures.end(), kWhere, experiment->id,
                 ": expected a measure, got '", key, "'");
  Measurement m;
  m.protocol = measure->protocol;
  m.posenc = arm.measured_posenc;
  m.drop_learned = arm.arm.drop_learned;
  const eval::Protocol& protocol = eval::protocol_named(m.protocol);
  if (!measure->lengths.empty() && protocol.length_unit.empty())
    m.options.emplace_back("lengths", joined(lengths_of(*measure, unit), ","));
  const auto add = [&](const run::Settings& options) {
    for (const auto& [name, value] : options)
      m.options.emplace_back(name, with_tokens(scale, unit, value));
  };
  add(measure->options);
  if (given) add(measure->given_options);
  const run::Settings usual = profile_options(protocol, scale, dataset.is_synthetic);
  for (const auto& [name, value] : usual)
    if (run::value_of(m.options, name).empty()) m.options.emplace_back(name, value);
  if (protocol.has_text) {
    m.options.emplace_back("allow-fewer", "true");
    if (document_order != "seed" && run::value_of(m.options, "document-order").empty())
      m.options.emplace_back("document-order", document_order);
  }
  return m;
}

bool is_judged_on(const Finding& finding, const Plan& plan, const PlannedDataset& dataset) {
  switch (finding.on) {
    case Finding::On::any:
      break;
    case Finding::On::text:
      return !dataset.is_synthetic;
    case Finding::On::synthetic:
      return dataset.is_synthetic;
    case Finding::On::far:
      return dataset.is_synthetic || has_published_thresholds(plan.scale);
  }
  return true;
}

Plan plan_of(const Experiment& experiment, const PlanOptions& options) {
  Plan plan;
  plan.experiment = &experiment;
  plan.scale = options.scale;
  plan.unit = unit_of(experiment, options);
  plan.given = options.given;
  plan.document_order = options.document_order;
  if (experiment.arms.empty() || !experiment.not_run.empty()) return plan;
  check_tasks(experiment);
  const int64_t usual = experiment.has_spread ? profile_of(options.scale).seeds : 1;
  const int64_t n_seeds = std::max(experiment.least_seeds, options.seeds.value_or(usual));
  for (int64_t seed = 1; seed <= n_seeds; ++seed) plan.seeds.push_back(static_cast<uint64_t>(seed));
  if (options.given) plan.seeds = {options.given->seed()};  // for the same test documents
  plan.datasets = datasets_of(experiment, options);
  for (Arm arm : experiment.arms) {
    if (!is_of(arm, options.scale)) continue;
    if (arm.posenc_for != nullptr)
      arm.posenc = arm.posenc_for(run::resolve(training_of(options.scale, arm.size)).model);
    if (!arm.task.empty()) arm.posenc = with_tokens(plan.scale, plan.unit, arm.posenc);
    PlannedArm planned = {arm, expression_of(experiment, arm, arm.posenc, options)};
    if (!arm.measured_posenc.empty())
      planned.measured_posenc = expression_of(experiment, arm, arm.measured_posenc, options);
    plan.arms.push_back(std::move(planned));
  }
  for (const PlannedDataset& dataset : plan.datasets)
    for (PlannedArm& arm : plan.arms)
      for (const uint64_t seed : plan.seeds) try {
          const std::shared_ptr<const Cell> base = base_of(plan, arm, dataset, seed);
          const bool is_given = options.given && arm.arm.starts_from.empty();
          const run::ResolvedConfig config =
              is_given ? config_of_given(arm, dataset, options)
                       : config_of(arm, dataset, options, plan.unit, seed, base.get());
          arm.posenc = config.posenc();
          Cell cell;
          cell.base = base;
          cell.is_given = is_given;
          cell.training = config.settings;
          cell.corpus = config.task.empty() ? dataset.corpus : config.task;
          cell.corpus_hash = config.task.empty() ? dataset.hash : run::open_data(config).hash();
          if (experiment.is_own && arm.label() != arm.arm.posenc) cell.given_name = arm.label();
          for (const Measure& m : experiment.measures) {
            require_fits(eval::protocol_named(m.protocol), config);
            cell.measurements.push_back(plan.measurement(m.key, arm, dataset));
          }
          const int64_t n_vocab = options.given ? options.given->n_vocab : 0;
          cell.training_work = training_work(config, n_vocab);
          for (Measurement& m : cell.measurements) m.work = measurement_work(config, n_vocab, m);
          plan.cells.push_back(std::move(cell));
        } catch (const ConfigError& error) {
          fail<ConfigError>(kWhere, experiment.id, ", ", arm.label(), ": ", error.what());
        }
  return plan;
}

double Cell::work() const {
  double sum = training_work;
  for (const Measurement& m : measurements) sum += m.work;
  return sum;
}

std::vector<std::string> names_of(const PlannedArm& arm) {
  const std::string& text = arm.arm.posenc;
  return {arm.label(), text, arm.posenc, text.substr(0, text.find('('))};
}

std::vector<Cell> cells_of(const std::vector<Plan>& plans, const std::vector<std::string>& only) {
  std::vector<Cell> all;
  std::map<std::string, size_t> places;
  std::set<std::string> found, seen;
  const auto is_wanted = [&](const PlannedArm& arm) {
    bool is = only.empty();
    for (const std::string& name : names_of(arm)) {
      seen.insert(name);
      if (std::find(only.begin(), only.end(), name) == only.end()) continue;
      found.insert(name);
      is = true;
    }
    return is;
  };
  for (const Plan& plan : plans)
    for (size_t i = 0; i < plan.cells.size(); ++i) {
      if (!is_wanted(plan.arm_of(i))) continue;
      const Cell& cell = plan.cells[i];
      // Cells of corpora that are to be made yet are told apart by these.
      const std::string text = cell.corpus_hash.empty() ? cell.corpus : "";
      const auto [place, is_new] = places.emplace(cell.hash() + text, all.size());
      if (is_new)
        all.push_back(cell);
      else
        all[place->second].add(cell.measurements);
    }
  // One seed of all models tells more than all seeds of one model.
  const auto round = [](const Cell& cell) { return (cell.seed() - 1) % kMostSeeds; };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Cell& a, const Cell& b) { return round(a) < round(b); });
  for (const std::string& name : only)
    require<ConfigError>(found.count(name) != 0, kWhere, "--only: expected an arm, got '", name,
                         "'",
                         did_you_mean(name, std::vector<std::string>(seen.begin(), seen.end())));
  return all;
}

}  // namespace farfield::sweep
