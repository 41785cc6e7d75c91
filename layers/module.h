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

/// Copies values, of which each process takes its own part, into the parameters. Names that no
/// parameter has are ignored. Throws    IoError that names a tensor that is missing, or of another
/// shape, or not floating;
///           nothing has changed then
void load_parameters(const std::vector<Parameter>& parameters,
                     const std::map<std::string, Tensor>& tensors);

/// While one lives, these parameters require no gradient, which saves time and memory. They are
/// shared with the model, so it must not be trained meanwhile.
class FrozenParameters {
 public:
  explicit FrozenParameters(const std::vector<Parameter>& parameters);
  ~FrozenParameters();
  FrozenParameters(const FrozenParameters&) = delete;
  FrozenParameters& operator=(const FrozenParameters&) = delete;

 private:
  std::vector<Tensor> trained_;  // tensors that require a gradient again afterwards
};

}  // namespace farfield
