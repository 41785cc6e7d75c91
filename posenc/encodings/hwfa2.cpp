// The second hybrid of window and full attention: rope in a window in all layers but the middle
// one; there the whole input, rope in training and rerope at test. Su 2023, "When HWFA meets
// ReRoPE", kexue.fm/archives/9731.

#include "engine/base/error.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

std::string expand_hwfa2(const Arguments& a, const Config& c) {
  require<ConfigError>(c.n_layer >= 2, "posenc",
                       "hwfa2 needs at least 2 layers, with a window and without, got ", c.n_layer);
  const int64_t middle = c.n_layer / 2;
  const std::string base = concat("base=", to_text(a.number("base")));
  std::string text = concat("rerope(", base, ")@", middle);
  const auto add = [&](int64_t first, int64_t last) {
    const std::string layers = concat('@', first, "..", last);
    text += concat(" + rope(", base, ')', layers, " + window(", a.integer("w"), ')', layers);
  };
  add(0, middle - 1);
  if (middle + 1 < c.n_layer) add(middle + 1, c.n_layer - 1);
  return text;
}

}  // namespace

Row hwfa2_row() {
  return {.name = "hwfa2",
          .classes = "LY",
          .meaning =
              "rope in a window in all layers but the middle one, there the whole input, rerope at "
              "test",
          .formula =
              "with k = n_layer/2: rerope(base)@k, on the others rope(base) + window(w), the same "
              "w; for log n add log_n(unclipped)@k",
          .source = "Su 2023, kexue.fm/archives/9731",
          .arguments = {reach_window_argument(), base_argument()},
          .expand = expand_hwfa2};
}

}  // namespace farfield::posenc
