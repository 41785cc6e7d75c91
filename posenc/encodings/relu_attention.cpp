// Attention without softmax: P = max(0, score), divided so that the variance of the output does not
// grow with the number of keys.
// Shen, Guo, Tan, Tang, Wang and Bian 2023, "A Study on ReLU and Softmax in Transformer",
// arXiv:2302.06461; seqlen: Wortsman, Lee, Gilmer and Kornblith 2023, "Replacing softmax with ReLU
// in Vision Transformers", arXiv:2309.08586; none: the exchange alone, which did not converge for
// Kaiokendev 2023, "Extending context".
//
// For independent scores and values of variance 1, the sum of max(0, score) v over N keys has the
// variance N/2, which explains gamma sqrt(N/2).

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class ReluAttention final : public Encoding {
 public:
  explicit ReluAttention(const Arguments& a) {
    const std::string by = a.word("by");
    const bool by_length = by == "seqlen", by_variance = by == "variance";
    a.require(by_variance || a.number("gamma") == 1, "gamma", "expected no gamma with by=", by,
              ", which divides by ", by_length ? "the keys alone" : "nothing", ", got ",
              a.number("gamma"));
    normalizer_.kind = by_variance ? Normalizer::Kind::relu
                       : by_length ? Normalizer::Kind::relu_seqlen
                                   : Normalizer::Kind::relu_plain;
    normalizer_.parameter = a.number("gamma");
    normalizer_.penalty = a.number("penalty");
  }

  ScoreRule score(const Positions&) const override { return {.normalizer = normalizer_}; }

 private:
  Normalizer normalizer_;
};

}  // namespace

Row relu_attention_row() {
  return {
      .name = "relu_attention",
      .classes = "N",
      .meaning = "max(0, score) instead of softmax, divided by the root of the number of keys",
      .formula =
          "P = max(0, score) / (`gamma` sqrt(N/2)), N the keys that a query sees; seqlen: / N; "
          "none: / 1. No sum of 1: keep tables at b(0) = 0",
      .source =
          "Shen et al. 2023, arXiv:2302.06461; seqlen: Wortsman et al. 2023, arXiv:2309.08586",
      .arguments = {number_argument("gamma", 1, "divided by gamma sqrt(keys / 2)").at_least(1e-6),
                    word_argument("by", {"variance", "seqlen", "none"},
                                  "seqlen: divided by the keys that are seen; none: by nothing"),
                    number_argument(
                        "penalty", 0,
                        "weight in training of the mean over rows of (sum of probabilities - 1)^2")
                        .at_least(0)
                        .at_most(1e6)},
      .compared_as = "relu_attention + rope",
      .make = make<ReluAttention>};
}

}  // namespace farfield::posenc
