// ReRoPE: rope whose distances stop growing at w, so that a model trained with rope meets none that
// it has not seen.
// Su 2023, "Rectified Rotary Position Embeddings", bojone/rerope.

#include "posenc/capped_rotary.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

// Distance min(d, w).
class Rerope final : public Encoding {
 public:
  Rerope(const Arguments& a, const Config& c) : rotary_(a, c, a.integer("w")) {}

  Positions positions(const Positions& plain) const override { return rotary_.positions(plain); }
  Rotation rotate(const Positions& p) const override { return rotary_.rotation(p); }
  ScoreRule score(const Positions& p) const override {
    return {.switch_distance = rotary_.acts(p) ? rotary_.limit() : 0};
  }

 private:
  CappedRotary rotary_;
};

}  // namespace

std::unique_ptr<Encoding> make_rerope(const Arguments& a, const Config& c) {
  return std::make_unique<Rerope>(a, c);
}

}  // namespace farfield::posenc
