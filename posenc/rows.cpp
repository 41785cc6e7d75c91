#include "posenc/rows.h"

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
ArgumentSpec train_len_argument(std::string name, std::string meaning) {
  return derived_integer(
             std::move(name), "train_len",
             [](const Config& c) { return static_cast<double>(c.train_len); }, std::move(meaning))
      .at_least(1);
}
ArgumentSpec original_length_argument() {
  return train_len_argument("original_length", "tokens that the model was trained on");
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
