#include "posenc/sandwich_curve.h"

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/ops.h"

namespace farfield::posenc {

SandwichCurve::SandwichCurve(const Arguments& a) {
  const int64_t bar_d = a.integer("bar_d");
  a.require(bar_d % 2 == 0, "bar_d", "expected an even number, got ", bar_d);
  for (int64_t i = 0; i < bar_d / 2; ++i)
    frequency_.push_back(std::pow(
        a.number("base"),
        -2.0 * static_cast<double>(i + a.integer("first_index")) / static_cast<double>(bar_d)));
}

double SandwichCurve::operator()(double distance) const {
  double total = 0;
  for (const double w : frequency_) total += std::cos(distance * w) - 1;
  return total;
}

Tensor SandwichCurve::table(const Positions& p) const {
  constexpr int64_t kGrain = 64;  // distances of a chunk
  if (table_.defined() && distance_ == p.distance && table_.device() == p.device) return table_;
  std::vector<double> values(p.distance.size());
  parallel_chunks(static_cast<int64_t>(values.size()), kGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      values[i] = (*this)(p.distance[i]);
  });
  table_ = Tensor::from(values, {1, static_cast<int64_t>(values.size())}, DType::f64, p.device);
  distance_ = p.distance;
  return table_;
}

std::vector<double> compression_ratios(int64_t n_head) {
  std::vector<double> ratios;
  for (int64_t j = 1; j <= n_head; ++j)
    ratios.push_back(8.0 * static_cast<double>(j) / static_cast<double>(n_head));
  return ratios;
}

Tensor read_ratios(const Arguments& a, const Config& c) {
  return Tensor::from(a.has("h") ? a.per_head("h") : compression_ratios(c.n_head), {c.n_head, 1},
                      DType::f64, c.device);
}

ArgumentSpec bar_d_argument() {
  return integer_argument("bar_d", 128, "width of the position vectors, even")
      .count()
      .at_least(2)
      .at_most(65536);
}
ArgumentSpec ratio_argument() {
  return per_head_argument("h", "8j/n_head", "compression ratio").above(0);
}
ArgumentSpec first_index_argument() {
  return integer_argument("first_index", 0, "index of the first frequency")
      .count()
      .at_least(0)
      .at_most(1);
}

}  // namespace farfield::posenc
