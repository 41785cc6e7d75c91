#pragma once

#include <string>
#include <vector>

#include "apps/eval/results.h"
#include "apps/plot/plot.h"

namespace farfield::eval {

/// A picture of results, and what its file is called after file_stem(): "" or "-name".
struct NamedPlot {
  std::string suffix;
  plot::Plot plot;
};
/// Perplexity against length where there is more than one, and a picture for each series and
/// length, one curve per run, or per head of each run while that makes no more than 12. Only those
/// that have a point to draw.
std::vector<NamedPlot> results_plots(const std::vector<RunResult>& results);

}  // namespace farfield::eval
