// CAPE: in training, positions of each sequence are moved and stretched at random, and each token's
// a little on its own.
// Likhomanenko et al. 2021, "CAPE: Encoding Relative Positions with Continuous Augmented Positional
// Embeddings", arXiv:2106.03143; gcambara/cape.

#include <cmath>

#include "posenc/registry.h"
#include "posenc/remap.h"

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

std::unique_ptr<Encoding> make_cape(const Arguments& a, const Config& c) {
  return std::make_unique<Cape>(a, c);
}

}  // namespace farfield::posenc
