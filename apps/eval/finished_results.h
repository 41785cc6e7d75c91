#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/eval/results.h"
#include "apps/run/load_run.h"

namespace farfield::eval {

/// All finished results of one protocol for a run, out of its eval/cells: a result for each
/// checkpoint, encoding, baseline, text, precision, device and choice of parameters, with all its
/// lengths, ascending; cells of several draws as their mean. The run's own training setup comes
/// first; the order of the rest does not depend on the order of the calls. `damaged` gets the files
/// that are no finished cells, which are left out.
std::vector<RunResult> finished_results(const run::LoadedRun& run, const std::string& protocol,
                                        std::vector<std::filesystem::path>& damaged);

/// The result with the same subject and parameters as `one`, whatever its lengths; null if there is
/// no such result.
RunResult* find_like(std::vector<RunResult>& results, const RunResult& one);

/// Adds failed cells of `measured` that were not kept to the finished results.
void add_failed(std::vector<RunResult>& finished, const RunResult& measured);

/// The "document_order" of a text by its id, "<hash>/<split> order=7": "seed" or "file"; "" for a
/// protocol that reads no text.
std::string document_order_of(const std::string& protocol, const std::string& text_id);

}  // namespace farfield::eval
