#include <algorithm>

#include "posenc/rows.h"

namespace farfield::posenc {

Factory make_leaky_rerope, make_lm_infinite, make_rerope, make_rope, make_rope_dynamic_ntk,
    make_rope_linear, make_rope_llama3, make_rope_ntk, make_rope_yarn, make_self_extend,
    make_streaming, make_xpos;

namespace {

// What every rotation takes, after what is its own.
std::vector<ArgumentSpec> rotary_arguments(std::vector<ArgumentSpec> own,
                                           std::vector<std::string> layouts = {"half",
                                                                               "interleaved"}) {
  own.push_back(base_argument());
  own.push_back(layout_argument(std::move(layouts)));
  own.push_back(
      number_argument("rotary_pct", 1, "share of head_dim that is rotated").above(0).at_most(1));
  own.push_back(angle_argument());
  return own;
}

// The same, for those that change what a model sees that was trained with rope.
std::vector<ArgumentSpec> two_branch_arguments(std::vector<ArgumentSpec> own) {
  own.push_back(at_argument({"eval", "both"}));
  return rotary_arguments(std::move(own));
}

ArgumentSpec half_train_len_argument(std::string name, std::string meaning) {
  return derived_integer(
             std::move(name), "train_len/2",
             [](const Config& c) {
               return static_cast<double>(std::max<int64_t>(c.train_len / 2, 1));
             },
             std::move(meaning))
      .at_least(1)
      .at_most(kMostTokens);
}
ArgumentSpec near_argument() {
  return half_train_len_argument("w", "tokens up to which distances are true");
}
ArgumentSpec sinks_argument(std::string name, double fallback) {
  return integer_argument(std::move(name), fallback, "first tokens, which stay visible")
      .at_least(0)
      .at_most(kMostTokens);
}

ArgumentSpec scale_argument(std::string meaning) {
  return required_number("scale", std::move(meaning)).at_least(1);
}

}  // namespace

std::vector<Row> rotation_rows() {
  return {
      {"leaky_rerope",
       {},
       "P2",
       "rope whose distances grow k times slower from w on",
       make_leaky_rerope,
       two_branch_arguments(
           {near_argument(), number_argument("k", 8, "how much slower").at_least(1)})},
      {"lm_infinite",
       {},
       "P2, M",
       "rope over the first and the recent tokens, its distances ending at n_local",
       make_lm_infinite,
       two_branch_arguments(
           {sinks_argument("n_global", 10),
            train_len_argument(
                "n_local", "recent tokens that a query sees, itself included; distances end there")
                .at_most(kMostTokens)})},
      {"rerope",
       {},
       "P2",
       "rope whose distances end at w",
       make_rerope,
       two_branch_arguments({near_argument()})},
      {"rope",
       {},
       "R",
       "pairs of q and k components turned by an angle that grows with the position",
       make_rope,
       rotary_arguments({})},
      {"rope_dynamic_ntk",
       {},
       "R",
       "rope whose base grows with the length of the input",
       make_rope_dynamic_ntk,
       rotary_arguments({number_argument("factor", 1, "how fast the base grows").above(0),
                         original_length_argument()})},
      {"rope_linear",
       {},
       "R, P",
       "rope with positions and distances divided by a number (position interpolation)",
       make_rope_linear,
       rotary_arguments({scale_or_auto_argument(), original_length_argument()})},
      {"rope_llama3",
       {},
       "R",
       "rope with its long waves divided by a number",
       make_rope_llama3,
       rotary_arguments(
           {number_argument("scale", 8, "long waves become longer by it").at_least(1),
            number_argument("low", 1, "waves longer than original_length/low are divided").above(0),
            number_argument("high", 4, "waves shorter than original_length/high stay").above(0),
            original_length_argument()})},
      {"rope_ntk",
       {},
       "R",
       "rope with a larger base: slow frequencies are divided, fast ones stay",
       make_rope_ntk,
       rotary_arguments({scale_argument("the slowest frequency is divided by it")})},
      {"rope_yarn",
       {},
       "R",
       "rope with slow frequencies divided, fast ones kept, and larger scores (YaRN)",
       make_rope_yarn,
       rotary_arguments(
           {scale_or_auto_argument(), original_length_argument(),
            number_argument("beta_fast", 32,
                            "turns within original_length from which on a "
                            "frequency stays")
                .above(0),
            number_argument("beta_slow", 1, "turns below which a frequency is divided by scale")
                .above(0),
            word_argument("ramp", {"index", "wavelength"},
                          "what the share of division is linear in: the index of the frequency, or "
                          "its turns")})},
      {"self_extend",
       {},
       "P2",
       "rope near, and from a window on positions of groups of tokens",
       make_self_extend,
       two_branch_arguments(
           {word_argument("group", {"auto"},
                          "tokens that share a far position; auto: as few as keep distances up to "
                          "original_length")
                .or_integer()
                .at_least(1)
                .at_most(kMostTokens),
            half_train_len_argument("window", "tokens up to which distances are true"),
            original_length_argument(),
            word_argument("shift", {"floor", "real"},
                          "how the far distances join: window - floor(window/group), or without "
                          "rounding")})},
      {"streaming",
       {},
       "P2, M",
       "rope over the first and the recent tokens, at their positions in a cache of these",
       make_streaming,
       two_branch_arguments({sinks_argument("sinks", 4),
                             derived_integer(
                                 "recent", "train_len - sinks",
                                 [](const Config& c, const Arguments& a) {
                                   return static_cast<double>(c.train_len - a.integer("sinks"));
                                 },
                                 "recent tokens that a query sees, itself included")
                                 .at_least(1)
                                 .at_most(kMostTokens)})},
      {"xpos",
       {},
       "R",
       "rope whose pairs decay with the distance, the slow ones less",
       make_xpos,
       rotary_arguments(
           {number_argument("gamma", 0.4, "larger: all pairs decay less").above(0),
            number_argument("scale_base", 512, "tokens in which a pair decays by its factor")
                .above(0),
            word_argument("centre", {"auto"},
                          "position where the factors are 1; auto: the middle of each call")
                .or_number()},
           {"interleaved", "half"})},
  };
}

}  // namespace farfield::posenc
