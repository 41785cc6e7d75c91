// ReRoPE: rope whose distances stop growing at w, so that a model trained with rope meets none that
// it has not seen.
// Su 2023, "Rectified Rotary Position Embeddings", bojone/rerope.

#include <algorithm>

#include "posenc/registry.h"
#include "posenc/rotary.h"

namespace farfield::posenc {
namespace {

// Distance min(d, w), for rotations and tables: far queries turn by w, their keys not at all.
class Rerope final : public Encoding {
 public:
  Rerope(const Arguments& a, const Config& c)
      : rotary_(a, c), w_(a.integer("w")), eval_only_(a.word("at") == "eval") {}

  Positions positions(const Positions& plain) const override {
    Positions p = plain;
    if (acts(p))
      for (double& d : p.distance) d = std::min(d, static_cast<double>(w_));
    return p;
  }
  Rotation rotate(const Positions& p) const override {
    Rotation rotation = rotary_.rotation(p);
    const auto w = static_cast<double>(w_);
    if (acts(p) && p.n_key > w_)
      rotation.far = rotary_.far(
          p, [w](double) { return w; }, [](double) { return 0.0; });
    return rotation;
  }
  ScoreRule score(const Positions& p) const override {
    return {.switch_distance = acts(p) ? w_ : 0};
  }

 private:
  bool acts(const Positions& p) const { return !eval_only_ || p.phase == Phase::eval; }

  Rotary rotary_;
  int64_t w_;  // tokens
  bool eval_only_;
};

}  // namespace

std::unique_ptr<Encoding> make_rerope(const Arguments& a, const Config& c) {
  return std::make_unique<Rerope>(a, c);
}

}  // namespace farfield::posenc
