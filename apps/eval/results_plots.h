#pragma once

#include <string>
#include <vector>

#include "apps/eval/results.h"
#include "apps/plot/plot.h"

namespace farfield::eval {

/// A picture of results, and the end of its file name after file_stem(): "" or "-name".
struct NamedPlot {
  std::string suffix;
  plot::Plot plot;
};
/// Perplexity against length if there are several lengths, and a picture for each series and
/// length, with one curve per run, or per head of each run if that makes at most 12 curves. A
/// series that results_heat_maps() draws has no such picture. Pictures without a point are left
/// out.
std::vector<NamedPlot> results_plots(const std::vector<RunResult>& results);

}  // namespace farfield::eval
