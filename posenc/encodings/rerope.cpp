// ReRoPE: rope whose distances stop growing at w, so that a model trained with rope meets none that
// it has not seen.
// Su 2023, "Rectified Rotary Position Embeddings", bojone/rerope.

#include "posenc/rotary.h"
#include "posenc/row.h"

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

Row rerope_row() {
  return {.name = "rerope",
          .classes = "P2",
          .meaning = "rope whose distances end at w",
          .formula = "rope with distance min(d, `w`)",
          .source = "Su 2023, bojone/rerope",
          .arguments = two_branch_arguments(
              {half_train_len_argument("w", "tokens up to which distances are true")}),
          .trained_as = "rope",
          .make = make<Rerope>};
}

}  // namespace farfield::posenc
