// LM-Infinite: a mask of the shape of a lambda, the first tokens and the recent ones, and distances
// that stop growing.
// Han et al. 2023, "LM-Infinite: Simple On-the-Fly Length Generalization for Large Language
// Models", arXiv:2308.16137, section 4. Without its re-insertion of tokens in between.

#include <algorithm>

#include "posenc/registry.h"
#include "posenc/rotary.h"

namespace farfield::posenc {
namespace {

// Distance min(d, n_local), for rotations and tables: far queries turn by n_local, their keys not
// at all.
class LmInfinite final : public Encoding {
 public:
  LmInfinite(const Arguments& a, const Config& c)
      : rotary_(a, c),
        n_global_(a.integer("n_global")),
        n_local_(a.integer("n_local")),
        eval_only_(a.word("at") == "eval") {}

  Positions positions(const Positions& plain) const override {
    Positions p = plain;
    if (acts(p))
      for (double& d : p.distance) d = std::min(d, static_cast<double>(n_local_));
    return p;
  }
  Rotation rotate(const Positions& p) const override {
    Rotation rotation = rotary_.rotation(p);
    const auto n_local = static_cast<double>(n_local_);
    if (acts(p) && p.n_key > n_local_)
      rotation.far = rotary_.far(
          p, [n_local](double) { return n_local; }, [](double) { return 0.0; });
    return rotation;
  }
  ScoreRule score(const Positions& p) const override {
    if (!acts(p)) return {};
    return {.window = n_local_, .sinks = n_global_, .switch_distance = n_local_};
  }

 private:
  bool acts(const Positions& p) const { return !eval_only_ || p.phase == Phase::eval; }

  Rotary rotary_;
  int64_t n_global_, n_local_;  // tokens
  bool eval_only_;
};

}  // namespace

std::unique_ptr<Encoding> make_lm_infinite(const Arguments& a, const Config& c) {
  return std::make_unique<LmInfinite>(a, c);
}

}  // namespace farfield::posenc
