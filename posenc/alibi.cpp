// ALiBi: attention with linear biases.
// Press, Smith and Lewis 2022, "Train Short, Test Long", arXiv:2108.12409, section 3.

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "engine/ops.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

// slope[h] = 2^(-8 (h + 1) / n_head): the series starts at 2^(-8/n_head), which is also its ratio.
std::vector<double> geometric_slopes(int64_t n_head) {
  std::vector<double> slopes;
  for (int64_t h = 1; h <= n_head; ++h)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(n_head)));
  return slopes;
}

// The set of the authors' program and its descendants: the series of the largest power of two
// k <= n_head, then every other member of the series of 2 k, from its first on.
std::vector<double> interpolated_slopes(int64_t n_head) {
  const auto k = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n_head)));
  std::vector<double> slopes = geometric_slopes(k);
  const std::vector<double> finer = geometric_slopes(2 * k);
  for (size_t i = 0; slopes.size() < static_cast<size_t>(n_head); i += 2)
    slopes.push_back(finer[i]);
  return slopes;
}

Tensor head_slopes(const Arguments& a, const Config& c) {
  const std::string set = a.word("slopes");
  std::vector<double> slopes = set == "interp"      ? interpolated_slopes(c.n_head)
                               : set == "geometric" ? geometric_slopes(c.n_head)
                                                    : a.per_head("slopes");
  for (double& slope : slopes) slope = std::max(slope, a.number("slope_floor"));
  return Tensor::from(slopes, {c.n_head, 1}, DType::f64, c.device);
}

class Alibi final : public Encoding {
 public:
  Alibi(const Arguments& a, const Config& c) : slope_(head_slopes(a, c)) {}
  ScoreRule score(const Positions& p) const override {  // score[h, m, n] -= slope[h] (m - n)
    return {.bias = -slope_ * p.distances()};           // [H, 1] * [S] -> [H, S]
  }

 private:
  Tensor slope_;  // [H, 1], logits per token, not trained
};

}  // namespace

std::unique_ptr<Encoding> make_alibi(const Arguments& a, const Config& c) {
  return std::make_unique<Alibi>(a, c);
}

}  // namespace farfield::posenc
