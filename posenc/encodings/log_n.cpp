// Logit scaling by the logarithm of the number of visible keys: keeps the entropy of attention from
// growing with the length.
// Su 2021, "Entropy invariance of attention"; clipped: bojone/rerope, rerope_patch.py; raw: Chiang
// and Cholak 2022, "Overcoming a Theoretical Limitation of Self-Attention", arXiv:2202.12172.

#include <algorithm>
#include <cmath>

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// Up to train_len the clipped form is 1: trained with it, a model would learn nothing of it.
Value default_mode(const Config& c, const Arguments&) {
  const bool is_trained =
      std::find(c.trained_with.begin(), c.trained_with.end(), "log_n") != c.trained_with.end();
  return std::string(is_trained ? "unclipped" : "clipped");
}

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

Row log_n_row() {
  return {.name = "log_n",
          .classes = "S",
          .meaning = "scores scaled by the logarithm of the number of keys that a query sees",
          .formula =
              "q . k of query m times ln n / ln `train_len`, n the keys that it sees; clipped: at "
              "least 1; raw: ln L",
          .source = "Su 2021; raw: Chiang and Cholak 2022, arXiv:2202.12172",
          .arguments = {word_argument("mode", {"clipped", "unclipped", "raw"},
                                      "clipped: 1 up to train_len; raw: ln of the whole length")
                            .derived("unclipped when trained with it, else clipped", default_mode),
                        train_len_argument("train_len", "keys for which the factor is 1")},
          .compared_as = "rope + log_n(mode=clipped)",
          .trained_as = "rope",
          .make = make<LogN>};
}

}  // namespace farfield::posenc
