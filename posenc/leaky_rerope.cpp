// Leaky ReRoPE: rope whose distances grow k times slower from w on.
// Su 2023, "Rectified Rotary Position Embeddings", bojone/rerope.

#include "posenc/active_at.h"
#include "posenc/registry.h"
#include "posenc/rotary.h"

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

std::unique_ptr<Encoding> make_leaky_rerope(const Arguments& a, const Config& c) {
  return std::make_unique<LeakyRerope>(a, c);
}

}  // namespace farfield::posenc
