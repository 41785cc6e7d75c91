// Linear attention, a control for what softmax does: the scores are products of positive features,
// P = phi(q) . phi(k) / their sum over the keys, phi(x) = elu(x) + 1. Here they are formed for each
// pair, not by the recurrence of the paper: the same numbers at the cost of softmax.
// Katharopoulos, Vyas, Pappas and Fleuret 2020, "Transformers are RNNs: Fast Autoregressive
// Transformers with Linear Attention", arXiv:2006.16236, sections 3.2 and 3.3.
//
// Rotations are refused. phi(R_m q) . phi(R_n k) is no function of m - n; the rotary form of linear
// attention turns the features of the numerator and leaves the sum without rotation, so that P may
// be negative (Su et al. 2021, "RoFormer", arXiv:2104.09864, section 3.3): another normaliser.

#include "posenc/row.h"

namespace farfield::posenc {
namespace {

class LinearAttention final : public Encoding {
 public:
  ScoreRule score(const Positions&) const override {
    return {.normalizer = {.kind = Normalizer::Kind::linear}};
  }
};

}  // namespace

Row linear_attention_row() {
  return {.name = "linear_attention",
          .synonyms = {"linear_transformer", "elu_attention"},
          .classes = "N",
          .meaning = "products of positive features instead of softmax, divided by their sum",
          .formula =
              "P = phi(q) . phi(k) / its sum over keys, phi(x) = elu(x) + 1; no biases, "
              "rotations or row scales beside it",
          .source = "Katharopoulos et al. 2020, arXiv:2006.16236, sections 3.2, 3.3",
          .conflicts = {{{"T-b", "T-bw", "B"}, "its scores are no logits to add a bias to"},
                        {{"R", "P2"},
                         "features of rotated vectors give scores that do not depend on the "
                         "distance alone"},
                        {{"S"}, "a factor of all scores of a row cancels in its sum"}},
          .is_compared = false,
          .make = make<LinearAttention>};
}

}  // namespace farfield::posenc
