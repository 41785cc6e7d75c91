#include "posenc/gauss_rate.h"

#include <algorithm>

namespace farfield::posenc {

HeadParameter gauss_rate(const Arguments& a, const Config& c, std::string_view argument) {
  const double least = a.number("gauss_rate_min");
  if (a.has(argument)) {
    const std::vector<double> rates = a.per_head(argument);
    const double smallest = *std::min_element(rates.begin(), rates.end());
    a.require(smallest >= least, argument, "expected rates >= gauss_rate_min, ", least, ", got ",
              smallest, "; give a smaller gauss_rate_min");
  }
  return HeadParameter(a, c, argument, Uniform{0, 1}, {.least = least});
}

ArgumentSpec gauss_rate_argument(std::string name) {
  return per_head_argument(std::move(name), "U(0,1)", "rate at the start of training").above(0);
}
ArgumentSpec gauss_rate_min_argument() {
  return number_argument("gauss_rate_min", 0.01, "the bound of the rate; 1e-6 allows wide kernels")
      .above(0);
}

}  // namespace farfield::posenc
