#include "posenc/shared_arguments.h"

#include <algorithm>
#include <cmath>

namespace farfield::posenc {

ArgumentSpec base_argument() {
  return number_argument("base", 10000, "the longest wave is 2 pi base tokens, nearly").above(1);
}
ArgumentSpec angle_argument() {
  return word_argument("angle_dtype", {"fp64", "bf16"},
                       "bf16 rounds positions and angles as the published baselines did");
}
ArgumentSpec layout_argument(std::vector<std::string> layouts) {
  return word_argument("layout", std::move(layouts), "order of the components");
}
ArgumentSpec scale_or_auto_argument() {
  return required_number("scale",
                         "how much longer than original_length inputs are; auto: as each is")
      .at_least(1)
      .or_words({"auto"});
}
ArgumentSpec tokens_argument(std::string name, double fallback, std::string meaning) {
  return integer_argument(std::move(name), fallback, std::move(meaning))
      .tokens()
      .at_most(kMostTokens);
}
ArgumentSpec train_len_argument(std::string name, std::string meaning) {
  return required_integer(std::move(name), std::move(meaning))
      .tokens()
      .derived("train_len", [](const Config& c, const Arguments&) { return Value(c.train_len); })
      .at_least(1);
}
ArgumentSpec half_train_len_argument(std::string name, std::string meaning) {
  return required_integer(std::move(name), std::move(meaning))
      .tokens()
      .derived("train_len/2",
               [](const Config& c, const Arguments&) {
                 return Value(std::max<int64_t>(c.train_len / 2, 1));
               })
      .at_least(1)
      .at_most(kMostTokens);
}
ArgumentSpec max_positions_argument(std::string meaning) {
  return required_integer("max_positions", std::move(meaning))
      .tokens()
      .derived("4 train_len",
               [](const Config& c, const Arguments&) {
                 return Value(4 * static_cast<double>(c.train_len));
               })
      .at_least(1)
      .at_most(kMostTokens);
}
ArgumentSpec original_length_argument() {
  return train_len_argument("original_length", "tokens that the model was trained on");
}
ArgumentSpec reach_window_argument() {
  // The largest w whose reach over all windowed layers, (w - 1)(n_layer - 1) + 1 tokens, is at most
  // 3/4 of the training length.
  return required_integer("w", "tokens that a query sees in the layers with a window")
      .tokens()
      .derived("reach 3/4 train_len",
               [](const Config& c, const Arguments&) {
                 const double layers = static_cast<double>(std::max<int64_t>(c.n_layer - 1, 1));
                 const double reach = std::max(0.75 * static_cast<double>(c.train_len) - 1, 0.0);
                 return Value(std::floor(reach / layers) + 1);
               })
      .at_least(1);
}
ArgumentSpec bias_scale_argument() {
  return number_argument("bias_scale", 1,
                         "factor on the bias; 1/sqrt(head_dim): added before the scale");
}
ArgumentSpec share_argument() {
  return word_argument("share", {"all", "layer"}, "layer: each layer has its own parameters");
}
ArgumentSpec at_argument(std::vector<std::string> words) {
  return word_argument("at", std::move(words), "eval: at test time only");
}

}  // namespace farfield::posenc
