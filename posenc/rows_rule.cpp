#include <algorithm>
#include <cmath>

#include "posenc/rows.h"

namespace farfield::posenc {

Factory make_log_n, make_logit_clamp, make_relu_attention, make_window;
std::string expand_hwfa(const Arguments&, const Config&),
    expand_hwfa2(const Arguments&, const Config&);

namespace {

// The largest w whose reach over all windowed layers, (w - 1)(n_layer - 1) + 1 tokens, is at most
// 3/4 of the training length.
double hwfa_window(const Config& c) {
  const double layers = static_cast<double>(std::max<int64_t>(c.n_layer - 1, 1));
  const double reach = std::max(0.75 * static_cast<double>(c.train_len) - 1, 0.0);
  return std::floor(reach / layers) + 1;
}
// Up to train_len the clipped form is 1: trained with it, a model would learn nothing of it.
std::string log_n_mode(const Config& c) {
  const bool is_trained =
      std::find(c.trained_with.begin(), c.trained_with.end(), "log_n") != c.trained_with.end();
  return is_trained ? "unclipped" : "clipped";
}
std::vector<ArgumentSpec> hwfa_arguments() {
  return {derived_integer("w", "reach 3/4 train_len", hwfa_window,
                          "tokens that a query sees in the layers with a window")
              .at_least(1),
          base_argument()};
}

}  // namespace

std::vector<Row> rule_rows() {
  return {
      {"hwfa",
       {},
       "LY",
       "rope in a window in all layers but the last, there the whole input, scaled by log n",
       nullptr,
       hwfa_arguments(),
       expand_hwfa},
      {"hwfa2",
       {},
       "LY",
       "rope in a window in all layers but the middle one, there the whole input, rerope at test",
       nullptr,
       hwfa_arguments(),
       expand_hwfa2},
      {"log_n",
       {},
       "S",
       "scores scaled by the logarithm of the number of keys that a query sees",
       make_log_n,
       {derived_word("mode", "unclipped when trained with it, else clipped", log_n_mode,
                     {"clipped", "unclipped", "raw"},
                     "clipped: 1 up to train_len; raw: ln of the whole length"),
        train_len_argument("train_len", "keys for which the factor is 1")}},
      {"logit_clamp",
       {},
       "N",
       "softmax over the scores that reach a threshold; the largest of a row always stays",
       make_logit_clamp,
       {required_number("tau", "relative: how far below the largest score; absolute: the score"),
        word_argument("mode", {"relative", "absolute"}, "what tau is measured from"),
        at_argument()}},
      {"relu_attention",
       {},
       "N",
       "max(0, score) in the place of softmax, divided by the root of the number of keys",
       make_relu_attention,
       {number_argument("gamma", 1, "divided by gamma sqrt(keys / 2)").at_least(1e-6),
        word_argument("by", {"variance", "seqlen"}, "seqlen: divided by the keys that are seen"),
        number_argument("penalty", 0,
                        "weight in training of the mean over rows of (sum of probabilities - 1)^2")
            .at_least(0)
            .at_most(1e6)}},
      {"window",
       {},
       "M",
       "a query sees itself and the w - 1 tokens before it",
       make_window,
       {required_integer("w", "tokens that a query sees, itself included").at_least(1),
        at_argument(),
        integer_argument("sinks", 0, "first tokens, which stay visible").at_least(0)}},
  };
}

}  // namespace farfield::posenc
