// LM-Infinite: a mask of the shape of a lambda, the first tokens and the recent ones, and distances
// that stop growing.
// Han et al. 2023, "LM-Infinite: Simple On-the-Fly Length Generalization for Large Language
// Models", arXiv:2308.16137, section 4. Without its re-insertion of tokens in between.

#include "posenc/rotary.h"
#include "posenc/row.h"

namespace farfield::posenc {
namespace {

// Distance min(d, n_local).
class LmInfinite final : public Encoding {
 public:
  LmInfinite(const Arguments& a, const Config& c)
      : rotary_(a, c, a.integer("n_local")), n_global_(a.integer("n_global")) {}

  Positions positions(const Positions& plain) const override { return rotary_.positions(plain); }
  Rotation rotate(const Positions& p) const override { return rotary_.rotation(p); }
  ScoreRule score(const Positions& p) const override {
    if (!rotary_.acts(p)) return {};
    const int64_t n_local = rotary_.limit();
    return {.window = n_local, .sinks = n_global_, .switch_distance = n_local};
  }

 private:
  CappedRotary rotary_;
  int64_t n_global_;  // tokens
};

}  // namespace

Row lm_infinite_row() {
  return {
      .name = "lm_infinite",
      .classes = "P2, M",
      .meaning = "rope over the first and the recent tokens, its distances ending at n_local",
      .formula = "visible when d < `n_local` or n < `n_global`; rope with distance min(d, n_local)",
      .source = "Han et al. 2023, arXiv:2308.16137, section 4",
      .arguments = two_branch_arguments(
          {integer_argument("n_global", 10, "first tokens, which stay visible")
               .count()
               .at_least(0)
               .at_most(kMostTokens),
           train_len_argument(
               "n_local", "recent tokens that a query sees, itself included; distances end there")
               .at_most(kMostTokens)}),
      .trained_as = "rope",
      .make = make<LmInfinite>};
}

}  // namespace farfield::posenc
