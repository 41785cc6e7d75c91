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

struct Mask {
  int64_t window = 0, sinks = 0;
};
Mask intersection(const Mask& a, const Mask& b) {
  if (a.window == 0 || b.window == 0) return a.window == 0 ? b : a;
  // The narrower window without sinks lies within the other, whatever sinks that has.
  const Mask& narrow = a.window < b.window || (a.window == b.window && a.sinks < b.sinks) ? a : b;
  require<ConfigError>(narrow.sinks == 0 || a.window == b.window, "posenc",
                       "expected one window where there are sinks, got windows ", a.window, " and ",
                       b.window, " with ", a.sinks, " and ", b.sinks, " sinks");
  return narrow;
}

}  // namespace

ScoreRule merge(const ScoreRule& a, const ScoreRule& b) {
  // Of a row-dependent bias, two branches and a normaliser there is at most one.
  ScoreRule rule = a.switch_distance > 0 ? a : b;
  rule.bias = sum_of(a.bias, b.bias);
  rule.weight = product_of(a.weight, b.weight);
  rule.row_scale = product_of(a.row_scale, b.row_scale);
  const Mask mask = intersection({a.window, a.sinks}, {b.window, b.sinks});
  rule.window = mask.window;
  rule.sinks = mask.sinks;
  rule.row_bias = a.row_bias.feature.defined() ? a.row_bias : b.row_bias;
  rule.normalizer = a.normalizer.kind != Normalizer::Kind::softmax ? a.normalizer : b.normalizer;
  return rule;
}

}  // namespace farfield::posenc
