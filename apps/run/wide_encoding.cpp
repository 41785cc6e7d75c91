#include "apps/run/wide_encoding.h"

#include <map>

#include "apps/run/weights.h"
#include "engine/ops/pointwise.h"

namespace farfield::run {

posenc::Composition widened(const posenc::Composition& encoding) {
  posenc::Config config = encoding.config();
  config.dtype = DType::f64;
  config.device = {};
  posenc::Composition wide(encoding.canonical(), config);
  std::map<std::string, Tensor> values;
  for (const Parameter& p : encoding.parameters())
    values[p.name] = cast(p.value.detach().to(config.device), DType::f64);
  std::vector<Parameter> parameters = wide.parameters();
  load_weights(parameters, values);
  return wide;
}

}  // namespace farfield::run
