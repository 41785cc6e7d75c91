#pragma once

#include <string>
#include <vector>

#include "apps/eval/results.h"

namespace farfield::eval {

/// The numbers of results_csv() as one JSON object for programs: a list of results, each with its
/// run, encoding, protocol, parameters, protocol hash, and for each length the hash of its tokens
/// and its quantities, or why it failed. Numbers that are not finite are strings.
std::string results_json(const std::vector<RunResult>& results);

}  // namespace farfield::eval
