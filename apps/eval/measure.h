#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/eval/evaluator.h"
#include "apps/eval/results.h"
#include "apps/run/load_run.h"
#include "data/corpus.h"

namespace farfield::eval {

struct MeasureOptions {
  Baseline baseline = {};      ///< masked: the run has to be loaded with its window
  bool again = false;          ///< do not reuse cells that an earlier call finished
  bool keep = true;            ///< finished cells for a later call; not in a run that is read-only
  bool in_file_order = false;  ///< of documents; otherwise in the order of the run's seed
  std::function<void(int64_t n_tokens)> watch = {};        ///< Session::watch
  std::function<void(const LengthResult&)> finished = {};  ///< Session::finished
  /// Rows that other protocols have scored, of the same run as loaded, split and baseline; may be
  /// null.
  RowMemory* memory = nullptr;
  Sharing* sharing = nullptr;  ///< Session::sharing
};

/// Runs one protocol on a split of a corpus, under the encoding that the run was loaded with and
/// options that check() accepts.
/// Cells that an earlier call finished are taken from run.folder.eval() / "cells", and new ones are
/// kept there unless told otherwise.
RunResult measure(const run::LoadedRun& run, const data::Corpus& corpus, const std::string& split,
                  const std::string& protocol, const EvalOptions& eval,
                  const MeasureOptions& options = {});

/// Writes the files of these results, named after file_stem(): CSV and JSON, items and series in
/// separate CSV files, and plots. If plots cannot be drawn, `no_plot` gets the reason. Returns the
/// path of the first CSV. IoError.
std::filesystem::path write_results(const std::filesystem::path& folder,
                                    const std::vector<RunResult>& results,
                                    std::string* no_plot = nullptr);

struct WrittenResults {
  std::filesystem::path csv;                   ///< the first
  std::vector<std::filesystem::path> damaged;  ///< finished cells that could not be read
};

/// The same for the run itself, in its eval/. The tables, <protocol>.csv and so on, hold all
/// finished results of the protocol, and the failed cells of `measured`. The plots, named after
/// file_stem(), show the subject of `measured` at every finished length.
WrittenResults write_run_results(const run::LoadedRun& run, const RunResult& measured,
                                 std::string* no_plot = nullptr);

}  // namespace farfield::eval
