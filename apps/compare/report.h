#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// Tidy: one number per row; a head's number has both names, "eff h3". Header first. Includes tests
/// that decide no mark.
std::string comparison_csv(const Comparison& of);
/// Everything but items, as one JSON object.
std::string comparison_json(const Comparison& of);
/// All comparisons, as one JSON object with a list "comparisons" of the objects above.
std::string comparisons_json(const std::vector<Comparison>& all);

/// Writes CSV, JSON and, if possible, SVG of each comparison. A file name holds the protocol, the
/// quantity (unless it is perplexity) and, `with_hash`, the beginning of the protocol hash, so that
/// it depends only on the request. `no_plot` gets the reason for a missing plot. Returns the paths
/// of the CSVs. IoError.
std::vector<std::filesystem::path> write_comparisons(const std::filesystem::path& folder,
                                                     const std::vector<Comparison>& all,
                                                     bool with_hash = false,
                                                     std::string* no_plot = nullptr);

}  // namespace farfield::compare
