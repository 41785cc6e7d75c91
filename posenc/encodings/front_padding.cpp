// Random padding in front: in training an input of n tokens starts anywhere in a window of
// max_positions, so that late positions are trained as often as early ones.
// Tao, Feng and Zhao 2023, "A Frustratingly Easy Improvement for Position Embeddings via Random
// Padding", arXiv:2305.04859.

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// p[m] = m + z, z ~ U{0 .. max_positions - n} for each sequence. No padding tokens exist: hidden
// keys and a masked loss would make them count for nothing.
class FrontPadding final : public Encoding {
 public:
  FrontPadding(const Arguments& a, const Config& c)
      : seed_(c.seed), path_(a.path()), max_positions_(a.integer("max_positions")) {}

  bool is_random(Phase phase) const override { return phase == Phase::train; }

  Positions positions(const Positions& p) const override {
    if (p.phase == Phase::eval) return p;
    require<ConfigError>(
        p.n_key <= max_positions_, "posenc", "expected at most the ", max_positions_,
        " tokens of the window of ", path_, ", got ", p.n_key,
        "; choose front_padding(max_positions=...) longer than the training length");
    const auto n_place = static_cast<uint64_t>(max_positions_ - p.n_key + 1);
    return with_row_per_sequence(p, [&](int64_t sequence) {
      const uint64_t pad = draws_of(seed_, path_, "pad", p.draw, sequence).below(0, n_place);
      return moved(p, static_cast<double>(pad)).ids;
    });
  }

 private:
  uint64_t seed_;
  std::string path_;
  int64_t max_positions_;
};

}  // namespace

Row front_padding_row() {
  return {.name = "front_padding",
          .classes = "P",
          .meaning = "a training sequence starts anywhere in a window",
          .formula = "training: p[m] = m + z, z ~ U{0 .. max_positions - L} per sequence",
          .source = "Tao et al. 2023, arXiv:2305.04859",
          .arguments = {max_positions_argument("tokens of the window")},
          .compared_as = "front_padding(max_positions=8192) + sinusoidal",
          .make = make<FrontPadding>};
}

}  // namespace farfield::posenc
