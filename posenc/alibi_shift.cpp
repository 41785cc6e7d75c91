// ALiBi with every slope flatter, or steeper, by one factor: slope[h] = 2^(-8 (h + 1)/n_head -
// delta). Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length Extrapolation via the
// Lens of Receptive Field Analysis", arXiv:2212.10356, section 4.1.

#include <cmath>

#include "posenc/registry.h"
#include "posenc/slopes.h"

namespace farfield::posenc {

std::unique_ptr<Encoding> make_alibi_shift(const Arguments& a, const Config& c) {
  std::vector<double> slopes = read_slopes(a, c);
  const std::vector<double> delta = a.per_head("delta");
  for (size_t h = 0; h < slopes.size(); ++h) slopes[h] *= std::exp2(-delta[h]);
  return fixed_slopes(std::move(slopes), a, c);
}

}  // namespace farfield::posenc
