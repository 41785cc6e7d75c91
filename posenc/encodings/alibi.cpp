// ALiBi: attention with linear biases, score[h, m, n] -= slope[h] (m - n).
// Press, Smith and Lewis 2022, "Train Short, Test Long", arXiv:2108.12409, section 3.

#include "posenc/row.h"
#include "posenc/shared_arguments.h"
#include "posenc/slopes.h"

namespace farfield::posenc {

Row alibi_row() {
  return {.name = "alibi",
          .synonyms = {"linear_bias"},
          .classes = "T-b",
          .meaning = "a bias that falls linearly with the distance, steeper in some heads",
          .formula =
              "b = -slope_j d; `geometric`: 2^(-8j/n_head); `interp`: that of the largest power of "
              "two k <= n_head, then every other slope of 2k",
          .source = "Press et al. 2022, arXiv:2108.12409, section 3",
          .arguments = {slopes_argument({"interp", "geometric"}), slope_floor_argument(),
                        bias_scale_argument()},
          .family = families::kLinear,
          .make = [](const Arguments& a,
                     const Config& c) { return fixed_slopes(read_slopes(a, c), a, c); },
          .rescale = rescale_slopes};
}

}  // namespace farfield::posenc
