// A mask for synthetic tasks: a query sees the keys at the listed distances and no others. With the
// distances that an answer follows from, there is nothing that distracts.
// Anil et al. 2022, "Exploring Length Generalization in Large Language Models", arXiv:2207.04901:
// the padded scratchpad without distractors.

#include <limits>

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// A table by distance, 0 or -inf. Distances count tokens, also where a remap moves positions.
class OnlyDistances final : public Encoding {
 public:
  OnlyDistances(const Arguments& a, const Config& c)
      : text_("only_distances" + a.canonical()),
        distances_(a.integers("distances")),
        n_head_(c.n_head) {
    // The first token of a sequence sees nothing else.
    a.require(distances_[0] == 0, "distances",
              "expected 0, the query itself, as the first distance, got ", distances_[0]);
    for (size_t i = 1; i < distances_.size(); ++i)
      a.require(distances_[i - 1] < distances_[i], "distances", "expected rising distances, got ",
                distances_[i - 1], " before ", distances_[i]);
  }

  ScoreRule score(const Positions& p) const override {
    require<ConfigError>(p.entry != Positions::Entry::ids, "posenc", text_,
                         ": expected no remap beside it that looks tables up by positions");
    const auto n = static_cast<int64_t>(p.distance.size());
    std::vector<double> bias(static_cast<size_t>(n_head_ * n),
                             -std::numeric_limits<double>::infinity());
    for (const int64_t d : distances_)
      for (int64_t head = 0; d < n && head < n_head_; ++head)
        bias[static_cast<size_t>(head * n + d)] = 0;
    return {.bias = Tensor::from(bias, {n_head_, n}, DType::f64, p.device)};
  }

 private:
  std::string text_;
  std::vector<int64_t> distances_;  // tokens, rising, from 0 on
  int64_t n_head_;
};

}  // namespace

Row only_distances_row() {
  return {.name = "only_distances",
          .synonyms = {"no_distractors"},
          .classes = "M",
          .meaning = "a query sees the keys at the listed distances alone",
          .formula = "visible when d is one of `distances`; 0 must be there",
          .source = "Anil et al. 2022, arXiv:2207.04901",
          // They follow from the layout of a task, which is the same at every scale: a count.
          .arguments = {required_integers("distances", "rising distances in tokens, the first 0")
                            .count()
                            .at_least(0)
                            .at_most(kMostTokens)},
          .example = "only_distances([0, 3])",
          .conflicts = {{{"S", "relu_attention"},
                         "it counts the keys that windows show, and this is no window"},
                        {{"P2"}, "far pairs read tables at other distances"}},
          .is_compared = false,
          .make = make<OnlyDistances>};
}

}  // namespace farfield::posenc
