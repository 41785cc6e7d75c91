// ALiBi with one slope, 2^-h, for all heads.
// Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length Extrapolation via the Lens of
// Receptive Field Analysis", arXiv:2212.10356, section 4.2.

#include <cmath>

#include "posenc/registry.h"
#include "posenc/slopes.h"

namespace farfield::posenc {

std::unique_ptr<Encoding> make_alibi_equal(const Arguments& a, const Config& c) {
  std::vector<double> slopes = a.per_head("h");
  for (double& x : slopes) x = std::exp2(-x);
  return fixed_slopes(std::move(slopes), a, c);
}

}  // namespace farfield::posenc
