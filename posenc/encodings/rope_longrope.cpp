// LongRoPE: each frequency is divided by a number of its own, found by search; there is one set of
// numbers for inputs up to the original length and one for longer inputs.
// Ding et al. 2024, "LongRoPE", arXiv:2402.13753; the factor of cos and sin follows the code of
// Phi-3 (Abdin et al. 2024, arXiv:2404.14219), whose settings the arguments are.

#include <cmath>

#include "posenc/rotary.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// One set serves all positions of a call, so keys rotated in a shorter call may not fit: they would
// have to be kept unrotated.
class RopeLongrope final : public Encoding {
 public:
  RopeLongrope(const Arguments& a, const Config& c)
      : rotary_(a, c),
        short_(divided(a, "short_factor")),
        long_(divided(a, "long_factor")),
        original_length_(a.number("original_length")),
        factor_(a.number("attention_factor")) {}

  Rotation rotate(const Positions& p) const override {
    const bool is_long = static_cast<double>(p.n_key) > original_length_;
    return rotary_.rotation(p, is_long ? long_ : short_, factor_);
  }

 private:
  std::vector<double> divided(const Arguments& a, const char* name) const {
    std::vector<double> inv_freq = rotary_.inv_freq();
    const std::vector<double> by =
        a.numbers(name, rotary_.dims() / 2, "pairs of components that turn");
    for (size_t i = 0; i < inv_freq.size(); ++i) inv_freq[i] /= by[i];
    return inv_freq;
  }

  Rotary rotary_;
  std::vector<double> short_, long_;  // radians per token
  double original_length_;            // tokens
  double factor_;                     // of cos and sin, at every length
};

// sqrt(1 + ln(scale)/ln(L0)).
Value phi3_factor(const Config& /*config*/, const Arguments& a) {
  const double scale = a.number("scale"), length = a.number("original_length");
  a.require(scale == 1 || length > 1, "original_length", "expected more than 1 token, got ",
            to_text(length));
  return scale == 1 ? 1.0 : std::sqrt(1 + std::log(scale) / std::log(length));
}

}  // namespace

Row rope_longrope_row() {
  return {
      .name = "rope_longrope",
      .synonyms = {"longrope", "su"},
      .classes = "R",
      .meaning = "rope with each frequency divided by a number of its own, another for long inputs",
      .formula =
          "frequency theta_i becomes theta_i/`short_factor`_i, for inputs of L > L0 = "
          "`original_length` tokens theta_i/`long_factor`_i; cos and sin times `attention_factor`",
      .source = "Ding et al. 2024, arXiv:2402.13753; Abdin et al. 2024, arXiv:2404.14219",
      .arguments = rotary_arguments(
          {required_numbers("long_factor",
                            "what divides the frequencies beyond original_length, for all or for "
                            "each")
               .above(0),
           numbers_argument("short_factor", 1, "the same up to original_length").above(0),
           original_length_argument(),
           number_argument("scale", 1,
                           "how much longer than original_length inputs are, for the default of "
                           "attention_factor alone")
               .at_least(1),
           required_number("attention_factor", "factor of cos and sin")
               .above(0)
               .derived("sqrt(1 + ln(scale)/ln(original_length))", phi3_factor)}),
      .example = "rope_longrope(4)",
      .is_compared = false,
      .make = make<RopeLongrope>};
}

}  // namespace farfield::posenc
