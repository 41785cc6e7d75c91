// Positional jumps: in training, positions leap by a random number after each block, so that large
// distances are met in short inputs.
// Mohtashami and Jaggi 2023, "Landmark Attention", arXiv:2305.16300; epfml/landmark-attention,
// rotary_mem_jump.py.

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {

std::vector<double> jump_ids(int64_t n, int64_t block, std::span<const int64_t> extra) {
  std::vector<double> ids;
  int64_t moved_by = 0;
  for (int64_t m = 0; m < n; ++m) {
    if (m > 0 && m % block == 0) moved_by += extra[static_cast<size_t>(m / block - 1)];
    ids.push_back(static_cast<double>(m + moved_by));
  }
  return ids;
}

namespace {

// The step behind each block is U{1 .. p_jump}, for each sequence; elsewhere, and at test, 1.
class PositionalJumps final : public Encoding {
 public:
  PositionalJumps(const Arguments& a, const Config& c)
      : seed_(c.seed),
        path_(a.path()),
        block_(a.integer("block")),
        p_jump_(static_cast<uint64_t>(a.integer("p_jump"))) {}

  bool is_random(Phase phase) const override { return phase == Phase::train; }

  Positions positions(const Positions& p) const override {
    if (p.phase == Phase::eval) return p;
    const auto row_of = [&](int64_t sequence) {
      const Random random = draws_of(seed_, path_, "jumps", p.draw, sequence);
      std::vector<int64_t> extra;
      for (int64_t b = 0; b < p.n_key / block_; ++b)
        extra.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(b), p_jump_)));
      return jump_ids(p.n_key, block_, extra);
    };
    return looked_up_by_ids(with_row_per_sequence(p, row_of), path_);
  }

 private:
  uint64_t seed_;
  std::string path_;
  int64_t block_;    // tokens
  uint64_t p_jump_;  // tokens
};

}  // namespace

Row positional_jumps_row() {
  return {.name = "positional_jumps",
          .classes = "P",
          .meaning = "in training, positions leap by a random number after each block",
          .formula =
              "training: p[m] = m + the sum of U{0 .. p_jump - 1} over the floor(m/`block`) blocks "
              "before, per sequence; tables at p[m] - p[n]",
          .source = "Mohtashami and Jaggi 2023, arXiv:2305.16300",
          .arguments = {required_integer("p_jump", "longest step behind a block; 1: none is longer")
                            .count()
                            .at_least(1)
                            .at_most(kMostTokens),
                        tokens_argument("block", 50, "tokens of a block").at_least(1)},
          .compared_as = "positional_jumps(p_jump=4, block=128) + rope",
          .make = make<PositionalJumps>};
}

}  // namespace farfield::posenc
