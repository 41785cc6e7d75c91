// Landmark attention: a token behind each block stands for it. The weight of a token of an earlier
// block is its share of a softmax over that block, times the share of the block's landmark.
// Mohtashami and Jaggi 2023, "Landmark Attention: Random-Access Infinite Context Length for
// Transformers", arXiv:2305.16300, section 3; epfml/landmark-attention, landmark.py.
//
// The paper does not say what a query at a landmark sees. In its code that query belongs to the
// block that it ends, and does not see itself.

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class Landmark final : public Encoding {
 public:
  explicit Landmark(const Arguments& a) : block_(a.integer("block")) {}

  ScoreRule score(const Positions&) const override {
    return {.normalizer = {.kind = Normalizer::Kind::landmark, .block = block_}};
  }

 private:
  int64_t block_;  // tokens
};

}  // namespace

Row landmark_row() {
  return {
      .name = "landmark",
      .synonyms = {"landmarks", "landmark_attention", "grouped_softmax"},
      .classes = "N",
      .meaning = "softmax by blocks of tokens, each weighted by the landmark behind it",
      .formula =
          "token n is a landmark if n mod (`block` + 1) = `block`. P = share of the softmax over "
          "the own block's tokens and the landmarks before; for a token of an earlier block, share "
          "of its block's softmax times share of the landmark",
      .source = "Mohtashami and Jaggi 2023, arXiv:2305.16300, section 3",
      // It belongs to the layout of a task, which is the same at every scale: a count.
      .arguments = {required_integer("block", "tokens before each landmark")
                        .count()
                        .at_least(1)
                        .at_most(kMostTokens)},
      .example = "landmark(block=3)",
      .conflicts = {{{"M", "P2"},
                     "it takes whole blocks, of which a mask or a second branch would "
                     "cut one"},
                    {{"B"}, "its kernels know tables by distance alone"},
                    {{"S"}, "it counts the keys of one softmax, and here are several"}},
      .is_compared = false,
      .make = make<Landmark>};
}

}  // namespace farfield::posenc
