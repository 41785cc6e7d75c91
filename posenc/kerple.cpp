#include "posenc/kerple.h"

#include <algorithm>

namespace farfield::posenc {

ArgumentSpec amplitude_argument(std::string name, Start start) {
  return start_argument(std::move(name), std::move(start), "amplitude at the start of training")
      .kept_within(kAmplitude);
}
ArgumentSpec rate_argument(std::string name) {
  return start_argument(std::move(name), uniform(0, 1), "rate at the start of training, per token")
      .kept_within(kRate);
}
ArgumentSpec power_argument(std::string name) {
  return start_argument(std::move(name), uniform(0, 2),
                        "power of the distance at the start of training")
      .kept_within(kPower);
}
ArgumentSpec gauss_rate_argument(std::string name) {
  return start_argument(std::move(name), uniform(0, 1), "rate at the start of training")
      .above(0)
      .kept_above_argument("gauss_rate_min");
}
ArgumentSpec gauss_rate_min_argument() {
  return number_argument("gauss_rate_min", kRate.least,
                         "the bound of the rate; 1e-6 allows wide kernels")
      .above(0);
}

GaussEncoding::GaussEncoding(const Arguments& a, const Config& c) : HeadEncoding(a, c) {
  const double least = a.number("gauss_rate_min");
  for (const ArgumentSpec& spec : a.specs()) {
    if (spec.kept_above.empty() || !a.has(spec.name)) continue;
    const std::vector<double> rates = a.per_head(spec.name);
    const double smallest = *std::min_element(rates.begin(), rates.end());
    a.require(smallest >= least, spec.name, "expected rates >= gauss_rate_min, ", least, ", got ",
              smallest, "; give a smaller gauss_rate_min");
  }
}

}  // namespace farfield::posenc
