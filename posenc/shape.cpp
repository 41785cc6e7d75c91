// SHAPE: in training each sequence starts at a random position, so absolute positions lose their
// meaning and distances keep theirs.
// Kiyono et al. 2021, "SHAPE: Shifted Absolute Position Embedding for Transformers",
// arXiv:2109.05644; butsugiri/shape.

#include "posenc/registry.h"
#include "posenc/remap.h"

namespace farfield::posenc {
namespace {

// p[m] = m + z, z ~ U{0 .. k - 1} for each sequence; at test z = eval_shift (0 in the paper, k in
// its code).
class ShapeShift final : public Encoding {
 public:
  ShapeShift(const Arguments& a, const Config& c)
      : seed_(c.seed),
        path_(a.path()),
        k_(static_cast<uint64_t>(a.integer("k"))),
        eval_shift_(a.number("eval_shift")) {}

  bool is_random(Phase phase) const override { return phase == Phase::train; }

  Positions positions(const Positions& p) const override {
    if (p.phase == Phase::eval) return moved(p, eval_shift_);
    return with_row_per_sequence(p, [&](int64_t sequence) {
      const uint64_t shift = draws_of(seed_, path_, "shift", p.draw, sequence).below(0, k_);
      return moved(p, static_cast<double>(shift)).ids;
    });
  }

 private:
  uint64_t seed_;
  std::string path_;
  uint64_t k_;
  double eval_shift_;
};

}  // namespace

std::unique_ptr<Encoding> make_shape(const Arguments& a, const Config& c) {
  return std::make_unique<ShapeShift>(a, c);
}

}  // namespace farfield::posenc
