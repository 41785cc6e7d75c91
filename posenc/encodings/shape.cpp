// SHAPE: in training each sequence starts at a random position, so absolute positions lose their
// meaning and distances keep theirs.
// Kiyono et al. 2021, "SHAPE: Shifted Absolute Position Embedding for Transformers",
// arXiv:2109.05644; butsugiri/shape.

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

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

Row shape_row() {
  return {
      .name = "shape",
      .classes = "P",
      .meaning = "a training sequence starts at a random position",
      .formula = "training: p[m] = m + z, z ~ U{0 .. k - 1} per sequence; at test m + `eval_shift`",
      .source = "Kiyono et al. 2021, arXiv:2109.05644",
      .arguments = {tokens_argument("k", 500, "starts are 0 .. k - 1").at_least(1),
                    tokens_argument("eval_shift", 0, "start at test").at_least(0)},
      .compared_as = "shape + sinusoidal",
      .make = make<ShapeShift>};
}

}  // namespace farfield::posenc
