// Attention without softmax: P = max(0, score), divided so that the variance of the output does not
// grow with the number of keys.
// Shen, Guo, Tan, Tang, Wang and Bian 2023, "A Study on ReLU and Softmax in Transformer",
// arXiv:2302.06461; seqlen: Wortsman, Lee, Gilmer and Kornblith 2023, "Replacing softmax with ReLU
// in Vision Transformers", arXiv:2309.08586.
//
// For independent scores and values of variance 1, the sum of max(0, score) v over N keys has the
// variance N/2: hence gamma sqrt(N/2).

#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class ReluAttention final : public Encoding {
 public:
  explicit ReluAttention(const Arguments& a) {
    const bool by_length = a.word("by") == "seqlen";
    a.require(!by_length || a.number("gamma") == 1, "gamma",
              "expected no gamma with by=seqlen, which divides by the keys alone, got ",
              a.number("gamma"));
    normalizer_.kind = by_length ? Normalizer::Kind::relu_seqlen : Normalizer::Kind::relu;
    normalizer_.parameter = a.number("gamma");
    normalizer_.penalty = a.number("penalty");
  }

  ScoreRule score(const Positions&) const override { return {.normalizer = normalizer_}; }

 private:
  Normalizer normalizer_;
};

}  // namespace

std::unique_ptr<Encoding> make_relu_attention(const Arguments& a, const Config&) {
  return std::make_unique<ReluAttention>(a);
}

}  // namespace farfield::posenc
