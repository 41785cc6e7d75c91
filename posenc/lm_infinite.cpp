// LM-Infinite: a mask of the shape of a lambda, the first tokens and the recent ones, and distances
// that stop growing.
// Han et al. 2023, "LM-Infinite: Simple On-the-Fly Length Generalization for Large Language
// Models", arXiv:2308.16137, section 4. Without its re-insertion of tokens in between.

#include "posenc/capped_rotary.h"
#include "posenc/registry.h"

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

std::unique_ptr<Encoding> make_lm_infinite(const Arguments& a, const Config& c) {
  return std::make_unique<LmInfinite>(a, c);
}

}  // namespace farfield::posenc
