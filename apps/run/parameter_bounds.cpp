#include "apps/run/parameter_bounds.h"

#include <cmath>
#include <vector>

#include "engine/base/error.h"

namespace farfield::run {
namespace {

std::string range_text(double least, double most) {
  if (std::isinf(least) && std::isinf(most)) return "finite";
  if (std::isinf(most)) return concat("from ", least, " on");
  if (std::isinf(least)) return concat("up to ", most);
  return concat("from ", least, " to ", most);
}

}  // namespace

void check_parameter_bounds(const posenc::Composition& encoding, const std::string& file) {
  for (const Parameter& p : encoding.parameters()) {
    const auto [least, most] = p.bounds;
    const bool is_of_heads = p.value.shape() == Shape{encoding.config().n_head};
    const std::vector<double> values = p.value.to_vector();
    for (size_t at = 0; at < values.size(); ++at)
      require<IoError>(std::isfinite(values[at]) && least <= values[at] && values[at] <= most,
                       "checkpoint", "bad_parameter: ", file, ": expected ", p.name,
                       is_of_heads ? " of head " : " at element ", is_of_heads ? at + 1 : at, ' ',
                       range_text(least, most), ", got ", values[at],
                       "; training keeps it there, so the file is damaged, or of another "
                       "constraint than '",
                       encoding.canonical(), '\'');
  }
}

}  // namespace farfield::run
