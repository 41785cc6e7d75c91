#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// Tidy: one number per row, that of a head under the name of both, "eff h3". Header first. Holds
/// the tests that decide no mark too.
std::string comparison_csv(const Comparison& of);
/// Everything but items, as one JSON object.
std::string comparison_json(const Comparison& of);
/// All of them, as one JSON object with a list "comparisons" of the objects above.
std::string comparisons_json(const std::vector<Comparison>& all);

/// Writes CSV, JSON and, where it can be drawn, SVG of each: named after protocol and quantity
/// (perplexity goes without saying), and, `with_hash`, the beginning of the protocol hash, so that
/// names depend on what was asked for alone. `no_plot` gets the reason where one cannot be drawn.
/// Returns the paths of the CSVs. IoError.
std::vector<std::filesystem::path> write_comparisons(const std::filesystem::path& folder,
                                                     const std::vector<Comparison>& all,
                                                     bool with_hash = false,
                                                     std::string* no_plot = nullptr);

}  // namespace farfield::compare
