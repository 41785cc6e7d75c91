#include "apps/eval/results_heat_maps.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/lists.h"
#include "apps/eval/protocol.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::eval {
namespace {

bool has_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

// A label for the name of a file, which may not be as long as a label.
std::string short_word(const std::string& label) {
  constexpr size_t kMost = 60, kShown = 48;
  const std::string word = run::file_word(label);
  return word.size() <= kMost ? word
                              : concat(word.substr(0, kShown), '-', hash_hex(label).substr(0, 8));
}

// The map of one result, of its series with this name. Without rows if no length has it.
plot::HeatMap heat_map_of(const ProtocolResult& result, const std::string& name) {
  plot::HeatMap map;
  map.y_label = length_unit_of(result.protocol);
  map.value_label = name;
  std::vector<const LengthResult*> cells;
  for (const LengthResult& cell : result.lengths) cells.push_back(&cell);
  std::stable_sort(cells.begin(), cells.end(),
                   [](const auto* a, const auto* b) { return a->length < b->length; });
  size_t n_column = 0;
  for (const LengthResult* const cell : cells) {
    for (const Series& series : cell->series) {
      if (series.name != name || series.x.size() < 2) continue;
      if (n_column == 0) n_column = series.x.size();
      if (series.y.size() != n_column) continue;
      const double half = (series.x[1] - series.x[0]) / 2;
      map.x_label = series.axis;
      map.x_least = series.x.front() - half;
      map.x_most = series.x.back() + half;
      map.rows.push_back(length_name(result.protocol, cell->length));
      map.values.insert(map.values.end(), series.y.begin(), series.y.end());
    }
  }
  return map;
}

}  // namespace

std::vector<NamedHeatMap> results_heat_maps(const std::vector<RunResult>& results) {
  std::vector<NamedHeatMap> maps;
  if (results.empty()) return maps;
  const std::vector<std::string> labels = labels_of(results);
  std::vector<std::string> taken;
  for (size_t i = 0; i < results.size(); ++i) {
    const Protocol* const protocol = protocol_of(results[i].result);
    if (protocol == nullptr || protocol->mapped_series.empty()) continue;
    plot::HeatMap map = heat_map_of(results[i].result, protocol->mapped_series);
    if (!has_finite(map.values)) continue;
    map.title = concat(protocol->name, ": ", labels[i]);
    std::string suffix = '-' + run::file_word(protocol->mapped_series);
    if (results.size() > 1) suffix += '-' + short_word(labels[i]);
    if (cli::has(taken, suffix)) suffix += concat('-', i + 1);
    taken.push_back(suffix);
    maps.push_back({suffix, std::move(map)});
  }
  return maps;
}

}  // namespace farfield::eval
