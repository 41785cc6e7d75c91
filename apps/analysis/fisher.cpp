#include "apps/analysis/fisher.h"

#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>

#include "engine/base/error.h"

namespace farfield::analysis {

double deviation_ratio_factor(int64_t df, double level) {
  require<ConfigError>(df >= 1, "analysis",
                       "bad_argument: expected at least 1 degree of freedom, got ", df);
  require<ConfigError>(level > 0 && level < 1, "analysis",
                       "bad_argument: expected a level between 0 and 1, got ", level);
  const auto n = static_cast<double>(df);
  return std::sqrt(boost::math::quantile(boost::math::fisher_f(n, n), (1 + level) / 2));
}

}  // namespace farfield::analysis
