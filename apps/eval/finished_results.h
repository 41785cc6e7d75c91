#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/eval/results.h"
#include "apps/run/load_run.h"

namespace farfield::eval {

/// Everything of one protocol that was ever finished for a run, out of its eval/cells: a result for
/// each checkpoint, encoding, baseline, text, precision, device and choice of parameters, with all
/// its lengths, ascending; cells of several draws as their mean. What the run was trained with
/// comes first, then in an order that does not depend on that of the calls. `damaged` gets the
/// files that are no finished cells, which are left out.
std::vector<RunResult> finished_results(const run::LoadedRun& run, const std::string& protocol,
                                        std::vector<std::filesystem::path>& damaged);

/// The result that is of the same as another, whatever its lengths; null when there is none.
RunResult* find_like(std::vector<RunResult>& results, const RunResult& one);

/// Puts cells of `measured` that failed without being kept beside what is finished.
void add_failed(std::vector<RunResult>& finished, const RunResult& measured);

/// The "document_order" of a text by its id, "<hash>/<split> order=7": "seed" or "file"; "" for a
/// protocol that reads none.
std::string document_order_of(const std::string& protocol, const std::string& text_id);

}  // namespace farfield::eval
