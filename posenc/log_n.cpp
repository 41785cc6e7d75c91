// Logit scaling by the logarithm of the number of visible keys: keeps the entropy of attention from
// growing with the length.
// Su 2021, "Entropy invariance of attention"; clipped: bojone/rerope, rerope_patch.py; raw: Chiang
// and Cholak 2022, "Overcoming a Theoretical Limitation of Self-Attention", arXiv:2202.12172.

#include <algorithm>
#include <cmath>

#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

// clipped: max(1, ln n / ln train_len), n the keys that a query sees; unclipped: without the max;
// raw: ln N, N the length of the call. Indices, not remapped positions, count.
class LogN final : public Encoding {
 public:
  explicit LogN(const Arguments& a)
      : clipped_(a.word("mode") == "clipped"),
        raw_(a.word("mode") == "raw"),
        log_train_len_(std::log(a.number("train_len"))) {
    a.require(raw_ || log_train_len_ > 0, "train_len", "expected at least 2 tokens, got 1");
  }

  Tensor row_scale(const Positions& p, const ScoreRule& layer) const override {
    std::vector<double> scale;
    for (int64_t m = p.n_key - p.n_query; m < p.n_key; ++m) {
      const double log_n =
          std::log(static_cast<double>(raw_ ? p.n_key : n_visible(layer.window, layer.sinks, m)));
      scale.push_back(raw_ ? log_n : log_n / log_train_len_);
      if (clipped_) scale.back() = std::max(1.0, scale.back());
    }
    return Tensor::from(scale, {p.n_query}, DType::f64, p.device);
  }

 private:
  bool clipped_, raw_;
  double log_train_len_;
};

}  // namespace

std::unique_ptr<Encoding> make_log_n(const Arguments& a, const Config&) {
  return std::make_unique<LogN>(a);
}

}  // namespace farfield::posenc
