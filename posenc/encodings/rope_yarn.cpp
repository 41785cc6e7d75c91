// YaRN: frequencies with many turns within the original length stay, frequencies with less than one
// turn are divided by the scale, with a ramp in between; all scores grow a little with the scale.
// Peng et al. 2023, "YaRN", arXiv:2309.00071, sections 3.2 and 3.4; the ramp over the index follows
// the authors' code (jquesnelle/yarn), the ramp over turns the paper's text.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "posenc/rotary.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class RopeYarn final : public Encoding {
 public:
  RopeYarn(const Arguments& a, const Config& c) : rotary_(a, c), scale_(a) {
    const double fast = a.number("beta_fast"), slow = a.number("beta_slow");
    a.require(fast > slow, "beta_fast", "expected more turns than beta_slow = ", to_text(slow),
              ", got ", to_text(fast));
    const double length = a.number("original_length");
    interpolated_ = a.word("ramp") == "wavelength" ? ramp_over_turns(length, fast, slow)
                                                   : ramp_over_index(a, length, fast, slow);
  }

  Rotation rotate(const Positions& p) const override {
    const double scale = scale_(p);
    std::vector<double> inv_freq = rotary_.inv_freq();
    for (size_t i = 0; i < inv_freq.size(); ++i)
      inv_freq[i] = inv_freq[i] * (1 - interpolated_[i]) + inv_freq[i] / scale * interpolated_[i];
    // On q and on k: scores grow by its square, 1/t in the paper.
    return rotary_.rotation(p, std::move(inv_freq), 0.1 * std::log(scale) + 1);
  }

 private:
  // 0 up to the index that turns `fast` times within the original length, 1 from the one that turns
  // `slow` times, both rounded outwards to integers.
  std::vector<double> ramp_over_index(const Arguments& a, double length, double fast,
                                      double slow) const {
    const auto r = static_cast<double>(rotary_.dims());
    const auto index_of = [&](double turns) {  // of the frequency that turns so often
      return r * std::log(length / (2 * std::numbers::pi * turns)) / (2 * std::log(rotary_.base()));
    };
    const double low = std::max(std::floor(index_of(fast)), 0.0);
    double high = std::min(std::ceil(index_of(slow)), r - 1);
    a.require(low <= high, "original_length",
              "expected a length in which some frequency turns between beta_slow and beta_fast "
              "times, got ",
              to_text(length), ", whose ramp goes from index ", to_text(low), " down to ",
              to_text(high));
    if (low == high) high += 0.001;
    std::vector<double> ramp;
    for (double i = 0; i < r / 2; ++i) ramp.push_back(std::clamp((i - low) / (high - low), 0., 1.));
    return ramp;
  }
  std::vector<double> ramp_over_turns(double length, double fast, double slow) const {
    std::vector<double> ramp;
    for (const double frequency : rotary_.inv_freq()) {
      const double turns = length * frequency / (2 * std::numbers::pi);
      ramp.push_back(1 - std::clamp((turns - slow) / (fast - slow), 0.0, 1.0));
    }
    return ramp;
  }

  Rotary rotary_;
  LengthScale scale_;
  std::vector<double> interpolated_;  // share of each frequency that is divided by the scale
};

}  // namespace

Row rope_yarn_row() {
  return {
      .name = "rope_yarn",
      .synonyms = {"yarn"},
      .classes = "R",
      .meaning = "rope with slow frequencies divided, fast ones kept, and larger scores (YaRN)",
      .formula =
          "frequency theta_i becomes theta_i (1 - g_i) + g_i theta_i/`scale`, g a ramp from 0 "
          "(`beta_fast` turns within L0) to 1 (`beta_slow`); cos and sin times 0.1 ln(`scale`) + "
          "1; auto: max(1, L/L0)",
      .source = "Peng et al. 2023, arXiv:2309.00071, sections 3.2, 3.4",
      .arguments = rotary_arguments(
          {scale_or_auto_argument(), original_length_argument(),
           number_argument("beta_fast", 32,
                           "turns within original_length from which on a "
                           "frequency stays")
               .above(0),
           number_argument("beta_slow", 1, "turns below which a frequency is divided by scale")
               .above(0),
           word_argument("ramp", {"index", "wavelength"},
                         "what the share of division is linear in: the index of the frequency, or "
                         "its turns")}),
      .compared_as = "rope_yarn(scale=auto)",
      .trained_as = "rope",
      .make = make<RopeYarn>};
}

}  // namespace farfield::posenc
