#include "posenc/merge.h"

#include <algorithm>

#include "engine/ops.h"

namespace farfield::posenc {
namespace {

Tensor sum_of(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}
Tensor product_of(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a * b;
}

}  // namespace

ScoreRule merge(const ScoreRule& a, const ScoreRule& b) {
  ScoreRule rule{sum_of(a.bias, b.bias), product_of(a.weight, b.weight),
                 product_of(a.row_scale, b.row_scale)};
  if (a.window == 0 || b.window == 0) {
    const ScoreRule& masked = a.window == 0 ? b : a;
    rule.window = masked.window;
    rule.sinks = masked.sinks;
    return rule;
  }
  // The narrower window without sinks lies within the other, whatever sinks that has.
  const ScoreRule& narrow =
      a.window < b.window || (a.window == b.window && a.sinks < b.sinks) ? a : b;
  require<ConfigError>(narrow.sinks == 0 || a.window == b.window, "posenc",
                       "expected one window where there are sinks, got windows ", a.window, " and ",
                       b.window, " with ", a.sinks, " and ", b.sinks, " sinks");
  rule.window = narrow.window;
  rule.sinks = narrow.sinks;
  return rule;
}

}  // namespace farfield::posenc
