#include "apps/sweep/search_report.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/analysis/spread.h"
#include "apps/cli/csv.h"
#include "apps/cli/lists.h"
#include "apps/plot/plot.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr const char *kMeasure = "last-token", *kQuantity = "perplexity";
constexpr size_t kBest = 5;

std::vector<double> perplexities(const Measured& m, const PlannedArm& arm, double length) {
  std::vector<double> values;
  for (const SeedNumber& seed : m.seeds(arm, kMeasure, kQuantity, length))
    values.push_back(seed.value);
  return values;
}

// The mean, shown as "12.3 ± 0.4"; "–" without results.
cli::Cell spread_cell(const std::vector<double>& values) {
  if (values.empty()) return cli::Cell::missing("–");
  const analysis::Spread s = analysis::spread_of_seeds(values);
  const int n_digits = s.mean < 100 ? 2 : s.mean < 1000 ? 1 : 0;
  std::string text = fixed(s.mean, n_digits);
  if (!std::isnan(s.deviation)) text += " ± " + fixed(s.deviation, n_digits);
  return {s.mean, text};
}

// The last experiment of a search, model by model.
class Front {
 public:
  Front(const Search& search, const Plan& plan, const Results& results);

  std::string header(bool has_mark) const;
  std::string row(const PlannedArm& arm, bool has_mark) const;
  cli::Table table(const std::string& name, const std::vector<const PlannedArm*>& arms,
                   bool has_mark) const;
  /// Finalists, the least perplexity at 16 L first.
  std::vector<const PlannedArm*> finalists() const { return finalists_; }
  std::vector<const PlannedArm*> best_and_known() const;
  bool is_on_front(const PlannedArm& arm) const { return on_front_.count(arm.label()) != 0; }
  std::string csv() const;

 private:
  std::vector<cli::Cell> cells(const PlannedArm& arm, bool has_mark) const;
  std::string name_of(const PlannedArm& arm) const;
  double far_of(const PlannedArm& arm) const;

  const Search& search_;
  const Plan& plan_;
  const Results& results_;
  std::vector<const PlannedArm*> finalists_, known_;
  std::vector<Score> scores_;  // of all arms
  std::set<std::string> on_front_;
};

bool is_known_encoding(const PlannedArm& arm) { return cli::has(catalogue(), arm.label()); }

Front::Front(const Search& search, const Plan& plan, const Results& results)
    : search_(search), plan_(plan), results_(results), scores_(scores_of(plan, results)) {
  for (const PlannedArm& arm : plan.arms)
    (is_known_encoding(arm) ? known_ : finalists_).push_back(&arm);
  std::vector<Score> formulas;
  for (size_t i = 0; i < scores_.size(); ++i)
    if (!is_known_encoding(plan.arms[i])) formulas.push_back(scores_[i]);
  const std::vector<std::vector<size_t>> fronts = fronts_of(formulas);
  if (!fronts.empty())
    for (const size_t i : fronts.front()) on_front_.insert(formulas[i].name);
  const auto by_far = [&](const PlannedArm* a, const PlannedArm* b) {
    return far_of(*a) < far_of(*b);
  };
  std::stable_sort(finalists_.begin(), finalists_.end(), by_far);
  std::stable_sort(known_.begin(), known_.end(), by_far);
}

double Front::far_of(const PlannedArm& arm) const {
  for (const Score& score : scores_)
    if (score.name == arm.label()) return score.far;
  return INFINITY;
}

std::vector<const PlannedArm*> Front::best_and_known() const {
  std::vector<const PlannedArm*> all;
  for (const PlannedArm* arm : finalists_)
    if (is_on_front(*arm) && all.size() < kBest) all.push_back(arm);
  all.insert(all.end(), known_.begin(), known_.end());
  std::stable_sort(all.begin(), all.end(), [&](const PlannedArm* a, const PlannedArm* b) {
    return far_of(*a) < far_of(*b);
  });
  return all;
}

std::string Front::name_of(const PlannedArm& arm) const {
  size_t least = plan_.seeds.size();
  for (const PlannedDataset& dataset : plan_.datasets)
    least = std::min(least, Measured(plan_, dataset, results_).n_seed(arm, kMeasure));
  return least == plan_.seeds.size() ? arm.label() : concat(arm.label(), " (", least, " seeds)");
}

std::string Front::header(bool has_mark) const {
  std::string names = "| model |", line = "|---|";
  if (has_mark) {
    names += " front |";
    line += "---|";
  }
  for (const PlannedDataset& dataset : plan_.datasets) {
    names += concat(' ', dataset.corpus, " L | ", dataset.corpus, " 16 L |");
    line += "---:|---:|";
  }
  return names + " parameters % | expression |\n" + line + "---:|---|\n";
}

std::vector<cli::Cell> Front::cells(const PlannedArm& arm, bool has_mark) const {
  std::vector<cli::Cell> row = {name_of(arm)};
  if (has_mark) row.push_back({is_on_front(arm), is_on_front(arm) ? "yes" : "–"});
  for (const PlannedDataset& dataset : plan_.datasets) {
    const Measured m(plan_, dataset, results_);
    for (const double length : {1.0, 16.0})
      row.push_back(spread_cell(perplexities(m, arm, length)));
  }
  const Measured m(plan_, plan_.datasets.front(), results_);
  const double share = 100 * m.fact(arm, "posenc_parameters") / m.fact(arm, "parameters");
  row.push_back(std::isnan(share) ? cli::Cell::missing("–") : cli::fixed_cell(share, 3));
  row.push_back(arm.posenc);
  return row;
}

std::string Front::row(const PlannedArm& arm, bool has_mark) const {
  std::string text = "|";
  const std::vector<cli::Cell> row = cells(arm, has_mark);
  for (size_t i = 0; i + 1 < row.size(); ++i) text += concat(' ', row[i], " |");
  return text + concat(" `", row.back(), "` |\n");
}

cli::Table Front::table(const std::string& name, const std::vector<const PlannedArm*>& arms,
                        bool has_mark) const {
  cli::Table table = {name, {"model"}};
  if (has_mark) table.columns.push_back("front");
  for (const PlannedDataset& dataset : plan_.datasets)
    for (const char* length : {" L", " 16 L"})
      table.columns.push_back({dataset.corpus + length, "perplexity"});
  table.columns.push_back({"parameters", "% of the model's"});
  table.columns.push_back("expression");
  for (const PlannedArm* arm : arms) table.rows.push_back(cells(*arm, has_mark));
  return table;
}

std::string Front::csv() const {
  std::string text =
      cli::csv_row({"model", "family", "front", "posenc", "text", "tokens", "perplexity",
                    "deviation", "seeds", "posenc_parameters", "parameters"});
  for (const PlannedArm& arm : plan_.arms)
    for (const PlannedDataset& dataset : plan_.datasets) {
      const Measured m(plan_, dataset, results_);
      for (const double length : plan_.experiment->measures.front().lengths) {
        const std::vector<double> values = perplexities(m, arm, length);
        if (values.empty()) continue;
        const analysis::Spread s = analysis::spread_of_seeds(values);
        const bool is_known = is_known_encoding(arm);
        text += cli::csv_row(
            {arm.label(), is_known ? "catalogue" : search_.candidate(arm.label()).family,
             is_on_front(arm) ? "yes" : "no", arm.posenc, dataset.corpus,
             std::to_string(tokens_of(plan_.scale, length)), shortest(s.mean),
             std::isnan(s.deviation) ? "" : shortest(s.deviation), std::to_string(values.size()),
             shortest(m.fact(arm, "posenc_parameters")), shortest(m.fact(arm, "parameters"))});
      }
    }
  return text;
}

// A point of perplexity at L and 16 L.
plot::PlotPoint point_of(const Measured& m, const PlannedArm& arm) {
  return {.x = m.perplexity(arm, 1), .y = m.perplexity(arm, 16)};
}

plot::Plot figure_of(const Search& search, const Front& front, const Plan& plan,
                     const PlannedDataset& dataset, const Results& results) {
  plot::Plot plot;
  plot.title = concat("formulas of the distance on ", dataset.corpus, ", first seed");
  plot.x_label = "perplexity at L";
  plot.y_label = "perplexity at 16 L";
  plot.is_log_x = false;
  const auto add = [&](plot::Curve curve) {
    std::erase_if(curve.points, [](const plot::PlotPoint& p) {
      return !std::isfinite(p.x) || !std::isfinite(p.y);
    });
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  };
  const OwnPlan own = search.last_rung_on_test();
  const Plan& wide = own.plan;
  plot::Curve grey = {.label = "last rung", .colour = "#9a9a9a", .has_line = false};
  for (const PlannedDataset& d : wide.datasets)
    if (d.corpus == dataset.corpus)
      for (const PlannedArm& arm : wide.arms)
        grey.points.push_back(point_of(Measured(wide, d, results), arm));
  add(std::move(grey));
  const Measured m = Measured(plan, dataset, results).first_seed();  // on the same tokens
  plot::Curve best = {.label = "front", .style = 0, .has_line = false};
  for (const PlannedArm* arm : front.finalists())
    if (front.is_on_front(*arm)) best.points.push_back(point_of(m, *arm));
  add(std::move(best));
  int style = 1;
  for (const std::string& name : catalogue())
    add({.label = name,
         .points = {point_of(m, *m.arm(name))},
         .style = style++,
         .has_line = false});
  return plot;
}

}  // namespace

SearchReport search_report(const Search& search, const Plan& plan, const Results& results) {
  const Front front(search, plan, results);
  SearchReport report = {front.header(true), front.header(false), front.csv(),
                         front.table("front", front.finalists(), true),
                         front.table("catalogue", front.best_and_known(), false)};
  for (const PlannedArm* arm : front.finalists()) report.front += front.row(*arm, true);
  for (const PlannedArm* arm : front.best_and_known()) report.catalogue += front.row(*arm, false);
  return report;
}

SearchReport write_search(const SweepFolder& folder, const Search& search, const Plan& plan,
                          const std::string& summary, std::string& why) {
  const Results results = readable_results(folder);
  const Front front(search, plan, results);
  SearchReport report = search_report(search, plan, results);
  std::string text = concat(
      "# Formulas of the distance: a search\n\n", summary, "\n\n## The best formulas\n\n",
      "Perplexity on the test split, mean ± standard deviation over ", plan.seeds.size(),
      " seeds, sorted by perplexity at 16 L. A formula is on the front if no other formula is at "
      "least as good at L and at 16 L and better at one of them, in nats as a mean over the "
      "texts.\n\n",
      report.front, "\n## The best five beside known encodings\n\n",
      "The formulas of the front with the least perplexity at 16 L, and encodings with the same "
      "training, sorted by perplexity at 16 L.\n\n",
      report.catalogue);
  for (const PlannedDataset& dataset : plan.datasets) {
    const std::string name = concat("search-", dataset.corpus, ".svg");
    const plot::Plot plot = figure_of(search, front, plan, dataset, results);
    if (!plot::has_points(plot)) continue;
    const std::string svg = plot::draw_svg_or_say(plot, why);
    if (svg.empty()) continue;
    write_file_atomic(folder.path() / name, svg);
    text += concat("\n![", plot.title, "](", name, ")\n");
  }
  write_file_atomic(folder.path() / "search.md", text);
  write_file_atomic(folder.path() / "search.csv", report.csv);
  return report;
}

}  // namespace farfield::sweep
