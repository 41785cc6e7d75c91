#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/plot/heat_map.h"
#include "apps/plot/picture.h"
#include "apps/plot/plot.h"
#include "apps/sweep/evidence.h"

namespace farfield::sweep {

/// A table of a report. Beside ours, never mixed with it, may stand the paper's.
struct ReportTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::string> groups = {};  ///< of each column; empty: columns have none
  struct Field {
    std::string text;
    bool is_best = false;   ///< of its row or section: bold
    std::string hint = {};  ///< more of it, for a tooltip and the CSV
  };
  std::vector<std::vector<Field>> rows;
  bool is_papers = false;    ///< numbers that a paper printed
  bool is_sortable = false;  ///< by a click on its header, in HTML
};

struct ReportFigure {
  std::string caption;
  plot::Plot plot = {};
  plot::Plot near = {};        ///< a second panel beside the plot, where it has points
  plot::Picture picture = {};  ///< shown instead of the plot where it has rows
  plot::HeatMap map = {};      ///< the same
  std::string quantity = {};   ///< of y: see share_y_ranges(); empty: shared with no figure
  std::vector<std::string> notes = {};  ///< sentences on bands, panels and scales

  bool is_empty() const { return picture.n == 0 && map.rows.empty() && !plot::has_points(plot); }
};

/// The two answers to a finding: whether the paper's own words hold of our numbers, and whether
/// what was asked at this scale holds.
struct Judgement {
  std::string claim, statement;
  std::string
      in_paper;       ///< how the statement stands in the paper's own numbers, as claims.csv says
  std::string scope;  ///< "both", "paper"; empty: a check of our own
  std::string asked;  ///< what was asked at this scale; empty: the statement
  Evidence printed;   ///< the statement, with the paper's thresholds, on every text
  Evidence evidence;  ///< what was asked at this scale
  bool has_models = false;  ///< the numbers are those of trained models

  bool is_own() const { return scope.empty(); }
  /// Evidence::one_seed_note() of trained models: nothing is known of the spread.
  std::string one_seed_note() const { return has_models ? evidence.one_seed_note() : ""; }
};

/// One experiment in a report.
struct Section {
  std::string id, title, source;
  std::string not_run;             ///< why; empty: it was run, maybe in part
  std::vector<std::string> facts;  ///< scale, data, seeds, protocols with their hashes
  std::vector<std::string> remarks;
  std::vector<ReportTable> tables;
  std::vector<std::string> blocks;  ///< text of a terminal, shown as it is
  std::vector<ReportFigure> figures;
  std::vector<Judgement> judgements;
  /// Cells, finished ones, and ones with some number of this experiment.
  int64_t n_cells = 0, n_done = 0, n_started = 0;
};

}  // namespace farfield::sweep
