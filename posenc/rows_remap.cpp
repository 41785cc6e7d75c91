#include "posenc/rows.h"

namespace farfield::posenc {

Factory make_block_repeat, make_cape, make_front_padding, make_interpolation, make_modulo,
    make_positional_jumps, make_randomized, make_shape, make_shifted;

namespace {

ArgumentSpec tokens_argument(std::string name, double fallback, std::string meaning) {
  return integer_argument(std::move(name), fallback, std::move(meaning)).at_most(kMostTokens);
}
// Four times the training length unless given, the factor of the write-up on extending context.
ArgumentSpec window_of_positions_argument(std::string meaning) {
  return derived_integer(
             "max_positions", "4 train_len",
             [](const Config& c) { return 4 * static_cast<double>(c.train_len); },
             std::move(meaning))
      .at_least(1)
      .at_most(kMostTokens);
}

}  // namespace

std::vector<Row> remap_rows() {
  return {
      {"block_repeat",
       {},
       "P",
       "neighbours share a position",
       make_block_repeat,
       {tokens_argument("repeat", 4, "tokens that share a position").at_least(1), at_argument()}},
      {"cape",
       {},
       "P",
       "positions of a training sequence moved, stretched and shaken at random",
       make_cape,
       {number_argument("d_max", 5, "a sequence moves by at most this many tokens").at_least(0),
        number_argument("e_max", 0.5, "a token moves by at most this; from 0.5 on order may change")
            .at_least(0),
        number_argument("l_max", 1.03, "a sequence is stretched by at most this factor")
            .at_least(1),
        word_argument("normalize", {"false", "true"},
                      "true: positions of a sequence have mean 0")}},
      {"front_padding",
       {},
       "P",
       "a training sequence starts anywhere in a window",
       make_front_padding,
       {window_of_positions_argument("tokens of the window")}},
      {"interpolation",
       {},
       "P",
       "positions and distances divided by a number",
       make_interpolation,
       {scale_or_auto_argument(), original_length_argument(), at_argument()}},
      {"modulo",
       {},
       "P",
       "positions that start again after some tokens",
       make_modulo,
       {train_len_argument("length", "tokens until positions start again").at_most(kMostTokens),
        at_argument({"eval", "both"})}},
      {"positional_jumps",
       {},
       "P",
       "in training, positions leap by a random number after each block",
       make_positional_jumps,
       {required_integer("p_jump", "longest step behind a block; 1: none is longer")
            .at_least(1)
            .at_most(kMostTokens),
        tokens_argument("block", 50, "tokens of a block").at_least(1)}},
      {"randomized",
       {},
       "P",
       "positions are an ordered random subset of many",
       make_randomized,
       {window_of_positions_argument("positions to choose from; longer inputs are refused"),
        word_argument("per_layer", {"false", "true"}, "true: each layer has its own draw"),
        word_argument("at", {"both", "train"}, "train: at test positions count from 0")}},
      {"shape",
       {},
       "P",
       "a training sequence starts at a random position",
       make_shape,
       {tokens_argument("k", 500, "starts are 0 .. k - 1").at_least(1),
        tokens_argument("eval_shift", 0, "start at test").at_least(0)}},
      {"shifted",
       {},
       "P",
       "training positions start further on in each batch",
       make_shifted,
       {tokens_argument("step", 2048, "tokens by which each batch starts further on").at_least(0),
        tokens_argument("span", 8192, "starts are below it, then from 0 again").at_least(1),
        tokens_argument("offset", 0, "start of the first batch").at_least(0)}},
  };
}

}  // namespace farfield::posenc
