#pragma once
// A layer is a plain struct of tensors with operator() and
//   void visit(const std::string& name, const Visit& f) const;
// which calls f on each parameter, named after the layer: "<name>.weight".

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/parameter.h"

namespace farfield {

using Visit = std::function<void(const Parameter&)>;

/// Name of the first parameter whose gradient has a NaN or an infinity; "" when all are finite.
std::string first_nonfinite_gradient(const std::vector<Parameter>& parameters);

/// Copies values into the parameters. Names that no parameter has are ignored.
/// Throws    IoError that names a tensor that is missing, or of another shape, or not floating;
///           nothing has changed then
void load_parameters(const std::vector<Parameter>& parameters,
                     const std::map<std::string, Tensor>& tensors);

}  // namespace farfield
