#pragma once

#include <string>

#include "apps/cli/table.h"
#include "posenc/composition.h"

namespace farfield::inspect {

/// "" when attention runs under the expression in training and evaluation, at the training length;
/// else why not: the text of the error.
std::string refusal_of(const std::string& expression, const posenc::Config& config);

/// A text for people: every encoding with class, arguments, defaults and the encodings that it
/// cannot be combined with, found by trying every pair in a small model.
std::string registry_text();
/// The same, one row per encoding: name, aliases, class, arguments, refused_with, meaning.
cli::Table registry_table();
std::string registry_csv();

}  // namespace farfield::inspect
