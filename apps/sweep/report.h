#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/sweep/folder.h"
#include "apps/sweep/results.h"
#include "apps/sweep/section.h"

namespace farfield::sweep {

/// The contents of a report on a sweep.
struct Report {
  std::string title;
  std::string scale;  ///< "tiny"
  /// Scale, data, program, machine, as name and value.
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<Section> sections;
  bool has_papers = true;  ///< some section is of a paper, or of ours: there may be findings
};

/// The report on all experiments of a sweep. `results`: results of its folder and of other folders.
Report report_of(const SweepFolder& folder, const Results& results);

/// Each figure as SVG, in the order of the sections; empty if it cannot be drawn, and `why` gives
/// the reason.
std::vector<std::vector<std::string>> drawn_figures(const Report& report,
                                                    const plot::PlotSize& size, std::string& why);
/// The name of a figure's file: "sandwich-table1-1.svg".
std::string figure_name(const Section& section, size_t i);

/// Figures are links to figures/NAME beside it. Those without an SVG are left out.
std::string report_markdown(const Report& report,
                            const std::vector<std::vector<std::string>>& figures);
/// One page that needs no other file and no script; with scripts its sortable tables can be sorted.
std::string report_html(const Report& report, const std::vector<std::vector<std::string>>& figures);
/// Every number of every cell, a row each: experiment, text, model, expression, seed, measure,
/// tokens, quantity, value, and the printed number.
std::string report_csv(const SweepFolder& folder, const Results& results);
/// Claims with their verdict and the numbers that decided, a row for each number.
std::string claims_csv(const Report& report);

/// Writes report.md, figures/, index.html, report.csv and claims.csv into a folder, and returns
/// their contents. `why` gets the reason where figures cannot be drawn. IoError.
Report write_report(const std::filesystem::path& to, const SweepFolder& folder,
                    const Results& results, std::string& why);

}  // namespace farfield::sweep
