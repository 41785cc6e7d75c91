#include "posenc/finite_start.h"

#include <cmath>
#include <limits>

#include "engine/autograd.h"
#include "engine/ops.h"
#include "posenc/expression.h"

namespace farfield::posenc {
namespace {

constexpr double kMostGradient = std::numeric_limits<float>::max();

struct BadGradient {
  std::string parameter;
  bool is_of_heads = false;
  size_t at = 0;
  double value = 0, gradient = 0;
};

// Gradients of the sum of all table entries that the last query of n tokens reads. A sum with an
// entry that is not finite is not finite either.
std::vector<BadGradient> bad_gradients(const Composition& encoding, int64_t n) {
  const Composition::Plan plan = encoding.plan(1, n, Phase::train);
  Tensor total;
  for (const Composition::Layer& layer : plan.layers)
    for_each_table(layer.rule, [&](const Tensor& table) {
      if (!table.defined() || !table.needs_grad()) return;
      const Tensor part = sum(cast(table, DType::f64)) / static_cast<double>(plan.layers.size());
      total = total.defined() ? total + part : part;
    });
  if (!total.defined()) return {};
  backward(total);
  std::vector<BadGradient> bad;
  for (const Parameter& p : encoding.parameters()) {
    if (!p.value.grad().defined()) continue;
    const std::vector<double> values = p.value.to_vector(), gradients = p.value.grad().to_vector();
    p.value.set_grad({});  // the next length begins anew
    for (size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(gradients[i]) <= kMostGradient))  // a NaN too
        bad.push_back({p.name, p.value.shape() == Shape{encoding.config().n_head}, i, values[i],
                       gradients[i]});
  }
  return bad;
}

}  // namespace

void require_finite_start(const Composition& asked) {
  if (asked.parameters().empty()) return;
  Config config = asked.config();
  config.device = {};  // the host says the same, and its gradients are of no use to others
  const Composition encoding = asked.with(asked.canonical(), config);
  const int64_t train_len = config.train_len;
  if (bad_gradients(encoding, train_len).empty()) return;
  int64_t fine = 0, shortest = train_len;  // of sequences; the longer ones are bad too
  while (shortest - fine > 1) {
    const int64_t middle = fine + (shortest - fine) / 2;
    (bad_gradients(encoding, middle).empty() ? fine : shortest) = middle;
  }
  BadGradient bad = bad_gradients(encoding, shortest).front();
  // A NaN's sign means nothing, and processors differ in it.
  if (std::isnan(bad.gradient)) bad.gradient = std::abs(bad.gradient);
  fail<ConfigError>(
      "posenc", "expected a gradient of at most ", kMostGradient, ", which float32 can hold, ",
      "by ", bad.parameter, bad.is_of_heads ? " of head " : " at element ", bad.at + 1,
      ", which starts at ", bad.value, "; got ", bad.gradient, " from a pair at distance ",
      shortest - 1, "; let it start elsewhere, change the formula, or add learn=false");
}

}  // namespace farfield::posenc
