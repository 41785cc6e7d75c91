#pragma once

#include <string>
#include <vector>

#include "apps/inspect/trials.h"

namespace farfield::inspect {

/// What came of one encoding on every path.
struct MatrixRow {
  std::string name;
  std::string expression;     ///< that was tried
  std::vector<Trial> trials;  ///< in the order of Trials::paths()
};

/// Every encoding of the registry on every path: about a second.
std::vector<MatrixRow> encoding_matrix();

/// Whether a trial gave a wrong number, an error of its own kind, or a refusal without a reason.
bool is_broken(const Trial& trial);

/// As a Markdown table: a mark per cell, notes below with what a refusal says. posenc/README.md
/// holds this text.
std::string matrix_text(const std::vector<MatrixRow>& rows);
/// One row per cell: name, expression, path, outcome, message.
std::string matrix_csv(const std::vector<MatrixRow>& rows);

}  // namespace farfield::inspect
