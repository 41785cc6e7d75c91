#pragma once

#include <string>
#include <vector>

#include "apps/plot.h"
#include "apps/results.h"

namespace farfield::apps {

/// A picture of results, and what its file is called after file_stem(): "" or "-name".
struct NamedPlot {
  std::string suffix;
  Plot plot;
};
/// Perplexity against length where there is more than one, and a picture for each series and
/// length, one curve per run, or per head of each run while that makes no more than 12. Only those
/// that have a point to draw.
std::vector<NamedPlot> results_plots(const std::vector<RunResult>& results);

}  // namespace farfield::apps
