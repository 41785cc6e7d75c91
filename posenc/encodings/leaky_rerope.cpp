// Leaky ReRoPE: rope whose distances grow k times slower from w on.
// Su 2023, "Rectified Rotary Position Embeddings", bojone/rerope.

#include "posenc/rotary.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// Distance d up to w, then w + (d - w)/k, for rotations and tables: a far query is at
// (m + w (k - 1))/k, its key at n/k.
class LeakyRerope final : public Encoding {
 public:
  LeakyRerope(const Arguments& a, const Config& c)
      : rotary_(a, c), w_(a.integer("w")), k_(a.number("k")), acts_(a) {}

  Positions positions(const Positions& plain) const override {
    Positions p = plain;
    const auto w = static_cast<double>(w_);
    if (acts_(p))
      for (double& d : p.distance)
        if (d > w) d = w + (d - w) / k_;
    return p;
  }
  Rotation rotate(const Positions& p) const override {
    Rotation rotation = rotary_.rotation(p);
    if (acts_(p) && p.n_key > w_)
      rotation.far = rotary_.far(
          p, [this](double m) { return (m + static_cast<double>(w_) * (k_ - 1)) / k_; },
          [this](double n) { return n / k_; });
    return rotation;
  }
  ScoreRule score(const Positions& p) const override {
    return {.switch_distance = acts_(p) ? w_ : 0};
  }

 private:
  Rotary rotary_;
  int64_t w_;  // tokens
  double k_;
  ActiveAt acts_;
};

}  // namespace

Row leaky_rerope_row() {
  return {.name = "leaky_rerope",
          .classes = "P2",
          .meaning = "rope whose distances grow k times slower from w on",
          .formula = "rope with distance d below `w`, then w + (d - w)/k",
          .source = "Su 2023, bojone/rerope",
          .arguments = two_branch_arguments(
              {half_train_len_argument("w", "tokens up to which distances are true"),
               number_argument("k", 8, "how much slower").at_least(1)}),
          .trained_as = "rope",
          .make = make<LeakyRerope>};
}

}  // namespace farfield::posenc
