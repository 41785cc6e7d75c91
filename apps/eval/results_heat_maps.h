#pragma once

#include <string>
#include <vector>

#include "apps/eval/results.h"
#include "apps/plot/heat_map.h"

namespace farfield::eval {

/// A heat map of a result, and the end of its file name after file_stem().
struct NamedHeatMap {
  std::string suffix;
  plot::HeatMap map;
};

/// For each run the series Protocol::mapped_series of all its lengths, a row each, on a scale from
/// 0 to 1. Runs without a number in it have none.
std::vector<NamedHeatMap> results_heat_maps(const std::vector<RunResult>& results);

}  // namespace farfield::eval
