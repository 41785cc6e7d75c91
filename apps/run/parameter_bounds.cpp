#include "apps/run/parameter_bounds.h"

#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/error.h"

namespace farfield::run {
namespace {

using Values = std::vector<std::vector<double>>;  // of each parameter

Values values_of(const posenc::Composition& encoding) {
  Values values;
  for (const Parameter& p : encoding.parameters()) values.push_back(p.value.to_vector());
  return values;
}

// What project() makes of a value everywhere: the bound on its side, where it is beyond one.
Values projected(posenc::Composition& probe, double value) {
  for (Parameter& p : probe.parameters())
    p.value.assign(Tensor::full(p.value.shape(), value, p.value.dtype()));
  probe.project();
  return values_of(probe);
}

std::string range_text(double least, double most) {
  if (std::isinf(least) && std::isinf(most)) return "finite";
  if (std::isinf(most)) return concat("from ", least, " on");
  if (std::isinf(least)) return concat("up to ", most);
  return concat("from ", least, " to ", most);
}

}  // namespace

void check_parameter_bounds(const posenc::Composition& encoding, const std::string& file) {
  const std::vector<Parameter> parameters = encoding.parameters();
  if (parameters.empty()) return;
  posenc::Config config = encoding.config();
  config.device = {};
  posenc::Composition probe(encoding.canonical(), config);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Values got = values_of(encoding);
  const Values least = projected(probe, -kInf), most = projected(probe, kInf);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const bool is_of_heads = parameters[i].value.shape() == Shape{config.n_head};
    for (size_t at = 0; at < got[i].size(); ++at) {
      const double x = got[i][at];
      require<IoError>(std::isfinite(x) && least[i][at] <= x && x <= most[i][at], "checkpoint",
                       "bad_parameter: ", file, ": expected ", parameters[i].name,
                       is_of_heads ? " of head " : " at element ", is_of_heads ? at + 1 : at, ' ',
                       range_text(least[i][at], most[i][at]), ", got ", x,
                       "; training keeps it there, so the file is damaged, or of another "
                       "constraint than '",
                       encoding.canonical(), '\'');
    }
  }
}

}  // namespace farfield::run
