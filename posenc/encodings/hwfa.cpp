// Hybrid of window and full attention: rope in a window in all layers but the last; there the whole
// input, without rotation, scores scaled by log n.
// Su 2023, "A new idea for global length extrapolation", kexue.fm/archives/9603.

#include "engine/base/error.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

std::string expand_hwfa(const Arguments& a, const Config& c) {
  require<ConfigError>(c.n_layer >= 2, "posenc",
                       "hwfa needs at least 2 layers, with a window and without, got ", c.n_layer);
  const std::string base = to_text(a.number("base"));
  return concat("rope(base=", base, ")@0..-2 + window(", a.integer("w"),
                ")@0..-2 + log_n(unclipped)@-1");
}

}  // namespace

Row hwfa_row() {
  return {.name = "hwfa",
          .classes = "LY",
          .meaning =
              "rope in a window in all layers but the last, there the whole input, scaled by log n",
          .formula =
              "rope(base)@0..-2 + window(w)@0..-2 + log_n(unclipped)@-1, the largest w with (w - "
              "1)(n_layer - 1) + 1 <= 3/4 train_len",
          .source = "Su 2023, kexue.fm/archives/9603",
          .arguments = {reach_window_argument(), base_argument()},
          .expand = expand_hwfa};
}

}  // namespace farfield::posenc
