#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/parameter.h"

namespace farfield::run {

/// Copies the tensors of a checkpoint, or this process's part of them, into the parameters of the
/// same names. IoError, with nothing changed, names one that is missing, not known, or of another
/// shape or dtype.
void load_weights(std::vector<Parameter>& parameters, const std::map<std::string, Tensor>& tensors);

}  // namespace farfield::run
