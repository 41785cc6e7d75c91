#pragma once

#include <string>

#include "posenc/composition.h"

namespace farfield::run {

/// Refuses stored parameters that the encoding would not have kept after a step of training: not
/// finite, or out of the bounds that Composition::project() puts them back into. What it leaves
/// anywhere (constraint=straight_through or softplus, tables without bounds) only has to be finite.
/// `file` is where the values come from.
/// Throws    IoError [checkpoint] bad_parameter, with the file, the parameter, its head, the bounds
///           and the value
void check_parameter_bounds(const posenc::Composition& encoding, const std::string& file);

}  // namespace farfield::run
