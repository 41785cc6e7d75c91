#pragma once

#include <filesystem>
#include <string>

#include "apps/cli/table.h"
#include "apps/sweep/search.h"

namespace farfield::sweep {

/// What a finished search found, from its results.
struct SearchReport {
  std::string front;            ///< the finalists as a Markdown table, with three seeds each
  std::string catalogue;        ///< the best five of the front beside the known encodings
  std::string csv;              ///< a row for each model, text and length
  cli::Table finalists, known;  ///< front and catalogue, for programs
};
SearchReport search_report(const Search& search, const Plan& front, const Results& results);

/// Writes search.md, search.csv and a figure for each text into the folder: perplexity at L against
/// perplexity at 16 L. `summary`: a paragraph on how the search went. `why` says why figures are
/// missing.
SearchReport write_search(const SweepFolder& folder, const Search& search, const Plan& front,
                          const std::string& summary, std::string& why);

}  // namespace farfield::sweep
