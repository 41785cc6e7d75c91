#pragma once

#include <string>
#include <vector>

#include "apps/cli/table.h"
#include "apps/inspect/trials.h"

namespace farfield::inspect {

/// The results of one encoding on every path.
struct MatrixRow {
  std::string name;
  std::string expression;     ///< that was tried
  std::vector<Trial> trials;  ///< in the order of Trials::paths()
};

/// Every encoding of the registry on every path: about a second.
std::vector<MatrixRow> encoding_matrix();

/// Whether a trial gave a wrong number, an unexpected error, or a refusal without a reason.
bool is_broken(const Trial& trial);

/// As a Markdown table: a mark per cell, and notes below with the texts of refusals.
/// posenc/README.md holds this table.
std::string matrix_text(const std::vector<MatrixRow>& rows);
/// One row per cell: name, expression, path, outcome, message.
cli::Table matrix_table(const std::vector<MatrixRow>& rows);
std::string matrix_csv(const std::vector<MatrixRow>& rows);

}  // namespace farfield::inspect
