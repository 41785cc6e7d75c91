#include "apps/sweep/search.h"

#include <algorithm>
#include <utility>

#include "apps/sweep/driver.h"
#include "apps/sweep/grid.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/registry.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";
constexpr size_t kFewestFinalists = 5;
constexpr int64_t kSeeds = 3;  // of the front
constexpr const char* kReference = "kerple_log";

using NamedFormula = std::pair<std::string, std::string>;  // label, expression

// The lines of a grid but for its title and encodings.
std::string lines_of(size_t stage, const std::vector<std::string>& on, Scale scale, int64_t seeds) {
  const auto lengths = [&](const std::vector<double>& units) {
    return joined(units, ", ", [&](double x) { return tokens_of(scale, x); });
  };
  std::string text = concat("dataset = ", joined(on), "\nprotocols = last-token\n");
  if (stage == Search::kFront)
    return text + concat("lengths = ", lengths({1, 2, 4, 8, 16}), "\nseeds = ", seeds, '\n');
  const double share = rungs_of(1)[stage].steps;
  const bool is_whole = share == 1;
  text += concat("lengths = ", lengths({1, 16}), "\neval.split = valid\neval.segments = ",
                 profile_of(scale).segments / (is_whole ? 1 : 2), '\n');
  if (!is_whole) {
    const run::RunConfig part = training_of(scale, Size::base, 1, share);
    text += concat("train.steps = ", *part.steps, "\ntrain.log-every = ", part.log_every, '\n');
  }
  return text;
}

std::string grid_text(const std::string& title, const std::vector<NamedFormula>& models,
                      const std::string& lines) {
  std::string text = concat("title = ", title, '\n');
  for (const auto& [label, expression] : models)
    text += concat("encoding = ", expression, '\n',
                   label == expression ? "" : concat("label = ", label, '\n'));
  return text + lines;
}

std::vector<NamedFormula> catalogue_at(Scale scale) {
  std::vector<NamedFormula> models;
  for (const std::string& name : catalogue())
    models.emplace_back(name,
                        expression_at(scale, posenc::comparison_of(*posenc::find(name)).trained));
  return models;
}

std::string title_of(size_t stage, size_t n, uint64_t seed) {
  if (stage == Search::kFront)
    return concat("the best formulas of a search (seed ", seed, ") beside known encodings");
  return concat("search among formulas (seed ", seed, "): rung ", stage + 1, " of ", Search::kRungs,
                ", ", n, n == 1 ? " formula" : " formulas");
}

PlanOptions options_of(const SweepFolder& folder) {
  PlanOptions options = folder.options();
  options.seeds.reset();  // the grids say how many
  return options;
}

// Models in a stage, as if the folder had the experiment.
OwnPlan plan_like(const SweepFolder& folder, const SearchRequest& request, size_t stage,
                  const std::vector<NamedFormula>& models, int64_t seeds) {
  const Scale scale = folder.options().scale;
  const std::string text = grid_text("", models, lines_of(stage, request.on, scale, seeds));
  OwnPlan own = {std::make_unique<Experiment>(parse_grid("search", text, scale)), {}};
  own.plan = plan_of(*own.experiment, options_of(folder));
  return own;
}

}  // namespace

const std::vector<std::string>& catalogue() {
  static const std::vector<std::string> all = {"alibi", "kerple_log", "sandwich",
                                               "rope",  "t5",         "fire"};
  return all;
}

std::string Search::name_of(size_t stage) {
  return stage == kFront ? "search-front" : concat("search-", stage + 1);
}

const Experiment* Search::find(size_t stage) const {
  for (const Experiment* e : folder_.experiments())
    if (e->id == "own/" + name_of(stage)) return e;
  return nullptr;
}

int64_t Search::size_in(const SweepFolder& folder) {
  for (const Experiment* e : folder.experiments())
    if (e->id == "own/" + name_of(0)) return static_cast<int64_t>(e->arms.size());
  return 0;
}

Search::Search(SweepFolder& folder, const SearchRequest& request, const SearchSpace& space)
    : folder_(folder), request_(request), space_(space) {
  const auto kept = folder.grids().find(name_of(0));
  if (kept == folder.grids().end()) return;
  std::vector<std::string> all;
  for (const Candidate& c : space_.candidates) all.push_back(c.name);
  require<ConfigError>(kept->second == text_of(0, all), kWhere, folder.path().string(),
                       ": holds a search with another --seed, --on or --candidates (",
                       size_in(folder), " formulas); give the same ones or choose another --out");
}

const Candidate& Search::candidate(const std::string& name) const {
  const auto found = std::find_if(space_.candidates.begin(), space_.candidates.end(),
                                  [&](const Candidate& c) { return c.name == name; });
  require<Error>(found != space_.candidates.end(), kWhere, "expected a formula of the search, got ",
                 name);
  return *found;
}

std::string Search::text_of(size_t stage, const std::vector<std::string>& names) const {
  const Scale scale = folder_.options().scale;
  std::vector<NamedFormula> models;
  for (const std::string& name : names) models.emplace_back(name, candidate(name).posenc);
  std::string lines = lines_of(stage, request_.on, scale, kSeeds);
  if (stage == kFront) {
    for (const NamedFormula& known : catalogue_at(scale)) models.push_back(known);
    lines += concat("reference = ", kReference, '\n');
  }
  return grid_text(title_of(stage, names.size(), request_.seed), models, lines);
}

Plan Search::plan_of(const Experiment& e) const { return sweep::plan_of(e, options_of(folder_)); }

Plan Search::begin(size_t stage) {
  if (const Experiment* const known = find(stage)) return plan_of(*known);
  std::vector<std::string> names;
  if (stage == 0) {
    for (const Candidate& c : space_.candidates) names.push_back(c.name);
  } else {
    const Results results = readable_results(folder_);
    const std::vector<Score> scores = scores_of(begin(stage - 1), results);
    const std::vector<std::vector<size_t>> fronts = fronts_of(scores);
    require<Error>(!fronts.empty(), kWhere, name_of(stage - 1),
                   ": expected a formula with results on every text, got none; sweep status ",
                   folder_.path().string(), " says why they failed");
    const size_t n = stage == kFront
                         ? std::max(kFewestFinalists, fronts.front().size())
                         : static_cast<size_t>(
                               rungs_of(static_cast<int64_t>(space_.candidates.size()))[stage].n);
    names = promoted(scores, n);
  }
  folder_.add_grid(name_of(stage), text_of(stage, names));
  return plan_of(*find(stage));
}

std::vector<Cell> Search::cells_of(const Plan& plan, size_t stage) const {
  // The last rung's models are measured on both splits while their weights are there.
  if (stage + 1 == kRungs) return sweep::cells_of({plan, last_rung_on_test().plan});
  return sweep::cells_of({plan});
}

OwnPlan Search::last_rung_on_test() const {
  std::vector<NamedFormula> models;
  for (const Arm& arm : find(kRungs - 1)->arms) models.emplace_back(arm.label, arm.posenc);
  return plan_like(folder_, request_, kFront, models, 1);
}

std::vector<double> seconds_of_stages(const SweepFolder& folder, const SearchRequest& request,
                                      int64_t n,
                                      const std::function<double(const Cell&)>& seconds_of) {
  const std::vector<NamedFormula> models = catalogue_at(folder.options().scale);
  const auto known = std::find_if(models.begin(), models.end(), [](const NamedFormula& model) {
    return model.first == kReference;
  });
  const auto seconds = [&](const std::vector<Cell>& cells) {
    double sum = 0;
    for (const Cell& cell : cells) sum += seconds_of(cell);
    return sum;
  };
  const auto cells_like = [&](size_t stage, const std::vector<NamedFormula>& of, int64_t seeds) {
    return plan_like(folder, request, stage, of, seeds).plan.cells;
  };
  std::vector<double> all;
  for (size_t stage = 0; stage < Search::kRungs; ++stage) {
    std::vector<Cell> cells = cells_like(stage, {*known}, 1);
    if (stage + 1 == Search::kRungs) {
      const std::vector<Cell> on_test = cells_like(Search::kFront, {*known}, 1);
      for (size_t i = 0; i < cells.size(); ++i) cells[i].add(on_test[i].measurements);
    }
    const auto n_models = static_cast<double>(rungs_of(n)[stage].n);
    all.push_back(n_models * seconds(cells));
  }
  const auto n_finalists =
      static_cast<double>(std::min(static_cast<int64_t>(kFewestFinalists), rungs_of(n).back().n));
  const double of_finalist = seconds(cells_like(Search::kFront, {*known}, kSeeds - 1));
  const std::vector<Cell> known_cells = cells_like(Search::kFront, models, kSeeds);
  all.push_back(n_finalists * of_finalist + seconds(cells_to_make(folder, known_cells, {})));
  return all;
}

OwnPlan first_plan(const SweepFolder& folder, const SearchRequest& request, int64_t jobs) {
  std::vector<NamedFormula> models = catalogue_at(folder.options().scale);
  std::stable_partition(models.begin(), models.end(),
                        [](const NamedFormula& model) { return model.first == kReference; });
  const size_t n_texts = request.on.size();
  const size_t n = (static_cast<size_t>(jobs) + n_texts - 1) / n_texts;
  if (n < models.size()) models.resize(n);
  return plan_like(folder, request, Search::kFront, models, 1);
}

}  // namespace farfield::sweep
