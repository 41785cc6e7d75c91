#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/eval/results.h"
#include "apps/plot/plot.h"

namespace farfield::demo {

/// Facts on the demo's page besides the results.
struct DemoFacts {
  std::string text_from;  ///< the input, in words
  std::string text_size;  ///< "train 14.4 MB in 1890 documents, ..."
  std::string model;      ///< "2 layers, width 128, 484,000 parameters"
  std::string training;   ///< "600 steps of 32 x 128 tokens"
  std::vector<std::pair<std::string, std::string>> more;  ///< name and value, for the last table
};

/// One sentence for each result, computed from its numbers: how perplexity changes from the
/// shortest to the longest length. The last sentence says whether the pattern known from the
/// literature shows.
std::vector<std::string> findings(const std::vector<eval::RunResult>& results);

/// Perplexity by length: all encodings that have a point to draw, then, where the rise of some
/// hides what the others do, those others alone, in the same colours.
std::vector<plot::Plot> demo_plots(const std::vector<eval::RunResult>& results);

/// A plot as the page shows it: what it says above it, and its SVG (draw_svg() with kPagePlot).
struct PageFigure {
  std::string caption;
  std::string svg;
};

/// A page that needs no other file: plots inline, the table, the facts of the run, how to read it.
/// It suits small screens and follows a reader's dark scheme. `figures` may be empty. `csv` is the
/// file with every number, from where the page is. All results must be of last-token perplexity at
/// the same lengths.
std::string demo_page(const DemoFacts& facts, const std::vector<eval::RunResult>& results,
                      const std::vector<PageFigure>& figures, const std::string& csv);

}  // namespace farfield::demo
