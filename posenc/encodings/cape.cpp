// CAPE: in training, positions of each sequence are moved and stretched at random, and each token's
// a little on its own.
// Likhomanenko et al. 2021, "CAPE: Encoding Relative Positions with Continuous Augmented Positional
// Embeddings", arXiv:2106.03143; gcambara/cape.

#include <cmath>

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {

std::vector<double> cape_ids(std::span<const double> local, double global, double scale,
                             bool normalized) {
  const double mean = normalized ? 0.5 * (static_cast<double>(local.size()) - 1) : 0;
  std::vector<double> ids;
  for (size_t m = 0; m < local.size(); ++m)
    ids.push_back((static_cast<double>(m) - mean + global + local[m]) * scale);
  return ids;
}

namespace {

class Cape final : public Encoding {
 public:
  Cape(const Arguments& a, const Config& c)
      : seed_(c.seed),
        path_(a.path()),
        d_max_(a.number("d_max")),
        e_max_(a.number("e_max")),
        log_l_max_(std::log(a.number("l_max"))),
        normalized_(a.word("normalize") == "true") {}

  bool is_random(Phase phase) const override { return phase == Phase::train; }

  Positions positions(const Positions& plain) const override {
    if (plain.phase == Phase::eval)
      return normalized_ ? moved(plain, -0.5 * static_cast<double>(plain.n_key - 1)) : plain;
    Positions p = with_row_per_sequence(plain, [&](int64_t sequence) {
      const Random random = draws_of(seed_, path_, "ids", plain.draw, sequence);
      // Numbers 0 and 1 are of the sequence, those from 2 on of its tokens.
      const auto symmetric = [&](uint64_t i) { return 2 * random.uniform(i) - 1; };
      const double global = d_max_ * symmetric(0), scale = std::exp(log_l_max_ * symmetric(1));
      std::vector<double> local;
      for (int64_t m = 0; m < plain.n_key; ++m)
        local.push_back(e_max_ * symmetric(2 + static_cast<uint64_t>(m)));
      return cape_ids(local, global, scale, normalized_);
    });
    p.entry = Positions::Entry::none;
    return p;
  }

 private:
  uint64_t seed_;
  std::string path_;
  double d_max_, e_max_;  // tokens
  double log_l_max_;
  bool normalized_;
};

}  // namespace

Row cape_row() {
  return {
      .name = "cape",
      .classes = "P",
      .meaning = "positions of a training sequence moved, stretched and shaken at random",
      .formula =
          "training: p[m] = (m + D + e_m) l, D ~ U(-d_max, d_max) and ln l ~ U(-ln l_max, ln "
          "l_max) per sequence, e_m ~ U(-e_max, e_max) per token; with `normalize` m counts from "
          "the middle; tables are refused",
      .source = "Likhomanenko et al. 2021, arXiv:2106.03143",
      .arguments =
          {number_argument("d_max", 5, "a sequence moves by at most this many tokens").at_least(0),
           number_argument("e_max", 0.5,
                           "a token moves by at most this; from 0.5 on order may change")
               .at_least(0),
           number_argument("l_max", 1.03, "a sequence is stretched by at most this factor")
               .at_least(1),
           word_argument("normalize", {"false", "true"},
                         "true: positions of a sequence have mean 0")},
      .compared_as = "cape + sinusoidal",
      .make = make<Cape>};
}

}  // namespace farfield::posenc
