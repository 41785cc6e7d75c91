#include "apps/analysis/log_fit.h"

#include <cmath>
#include <vector>

#include "engine/base/error.h"

namespace farfield::analysis {

LineFit fit_log(std::span<const double> distance, std::span<const double> y) {
  std::vector<double> x;
  for (const double d : distance) {
    require<ConfigError>(!(d < 0), "log-fit", "bad_argument: expected distances from 0 on, got ",
                         d);
    x.push_back(std::log1p(d));
  }
  return fit_line(x, y, "log-fit");
}

}  // namespace farfield::analysis
