// ALiBi with one slope, 2^-h, for all heads.
// Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length Extrapolation via the Lens of
// Receptive Field Analysis", arXiv:2212.10356, section 4.2.

#include <cmath>

#include "posenc/row.h"
#include "posenc/shared_arguments.h"
#include "posenc/slopes.h"

namespace farfield::posenc {

Row alibi_equal_row() {
  return {.name = "alibi_equal",
          .classes = "T-b",
          .meaning = "alibi with the slope 2^-h in all heads",
          .formula = "b = -2^-h d",
          .source = "Chi et al. 2023, arXiv:2212.10356, section 4.2",
          .arguments = {required_per_head("h", "minus the logarithm of the slope, base 2")
                            .in(ArgumentSpec::Unit::halvings_per_token)
                            .at_least(-64)
                            .at_most(64),
                        slope_floor_argument(), bias_scale_argument()},
          .family = families::kLinear,
          .compared_as = "alibi_equal(h=2)",
          .make = [](const Arguments& a, const Config& c) {
            std::vector<double> slopes = a.per_head("h");
            for (double& x : slopes) x = std::exp2(-x);
            return fixed_slopes(std::move(slopes), a, c);
          }};
}

}  // namespace farfield::posenc
