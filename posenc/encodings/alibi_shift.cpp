// ALiBi with every slope flatter, or steeper, by one factor: slope[h] = 2^(-8 (h + 1)/n_head -
// delta). Chi, Fan, Rudnicky and Ramadge 2023, "Dissecting Transformer Length Extrapolation via the
// Lens of Receptive Field Analysis", arXiv:2212.10356, section 4.1.

#include <cmath>

#include "posenc/row.h"
#include "posenc/shared_arguments.h"
#include "posenc/slopes.h"

namespace farfield::posenc {

Row alibi_shift_row() {
  return {.name = "alibi_shift",
          .classes = "T-b",
          .meaning = "alibi with every slope divided by 2^delta",
          .formula = "b = -slope_j 2^-delta d",
          .source = "Chi et al. 2023, arXiv:2212.10356, section 4.1",
          .arguments = {required_per_head("delta", "halvings of the slope; negative: steeper")
                            .in(ArgumentSpec::Unit::halvings_per_token)
                            .at_least(-64)
                            .at_most(64),
                        slopes_argument({"geometric", "interp"}), slope_floor_argument(),
                        bias_scale_argument()},
          .family = families::kLinear,
          .compared_as = "alibi_shift(delta=3)",
          .make =
              [](const Arguments& a, const Config& c) {
                std::vector<double> slopes = read_slopes(a, c);
                const std::vector<double> delta = a.per_head("delta");
                for (size_t h = 0; h < slopes.size(); ++h) slopes[h] *= std::exp2(-delta[h]);
                return fixed_slopes(std::move(slopes), a, c);
              },
          .rescale = rescale_slopes};
}

}  // namespace farfield::posenc
