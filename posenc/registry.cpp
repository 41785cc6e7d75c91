#include "posenc/registry.h"

#include <algorithm>

#include "posenc/head_parameter.h"

namespace farfield::posenc {

using Factory = std::unique_ptr<Encoding>(const Arguments&, const Config&);
Factory make_alibi, make_kerple_log, make_learned_abs, make_none, make_rope, make_sandwich,
    make_sinusoidal, make_window;

namespace {

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
// Taken by every encoding with an additive table.
ArgumentSpec bias_scale_argument() {
  return number_argument("bias_scale", 1,
                         "factor on the bias; 1/sqrt(head_dim): added before the scale");
}
// Taken by every encoding with parameters that act on layers.
ArgumentSpec share_argument() {
  return word_argument("share", {"all", "layer"}, "layer: each layer has its own parameters");
}

std::vector<Row> make_rows() {
  return {
      {"alibi",
       {},
       "T-b",
       "a bias that falls linearly with the distance, steeper in some heads",
       make_alibi,
       {per_head_argument("slopes", "interp", "slope set, or one slope per head")
            .or_words({"interp", "geometric"}),
        number_argument("slope_floor", 0, "smallest slope").at_least(0), bias_scale_argument()}},
      {"kerple_log",
       {},
       "T-b",
       "a learned bias that falls with the logarithm of the distance",
       make_kerple_log,
       {per_head_argument("r1", "U(0,2)", "amplitude at the start of training").at_least(0.01),
        per_head_argument("r2", "U(0,1)", "rate at the start of training, per token")
            .at_least(0.01),
        constraint_argument(), share_argument(), bias_scale_argument()}},
      {"learned_abs",
       {},
       "I",
       "a trained vector per position, added to the token embedding",
       make_learned_abs,
       {derived_integer(
            "max_positions", "train_len",
            [](const Config& c) { return static_cast<double>(c.train_len); },
            "rows of the table; longer inputs are refused")
            .at_least(1)}},
      {"none", {"nope", "no_pe"}, "-", "the causal mask alone", make_none, {}},
      {"rope",
       {},
       "R",
       "pairs of q and k components turned by an angle that grows with the position",
       make_rope,
       {base_argument(), layout_argument({"half", "interleaved"}),
        number_argument("rotary_pct", 1, "share of head_dim that is rotated").above(0).at_most(1),
        angle_argument()}},
      {"sandwich",
       {},
       "T-b",
       "a bias that is the product of two sinusoidal position vectors",
       make_sandwich,
       {integer_argument("bar_d", 128, "width of the position vectors, even")
            .at_least(2)
            .at_most(65536),
        base_argument(), per_head_argument("h", "8j/n_head", "compression ratio").above(0),
        integer_argument("first_index", 0, "index of the first frequency").at_least(0).at_most(1),
        bias_scale_argument()}},
      {"sinusoidal",
       {},
       "I",
       "fixed sines and cosines of the position, added to the token embedding",
       make_sinusoidal,
       {layout_argument({"concat", "interleaved"}), base_argument(),
        number_argument("emb_scale", 1, "factor on the token embedding").above(0),
        angle_argument()}},
      {"window",
       {},
       "M",
       "a query sees itself and the w - 1 tokens before it",
       make_window,
       {required_integer("w", "tokens that a query sees, itself included").at_least(1),
        word_argument("at", {"both", "eval"}, "eval: at test time only")}},
  };
}

}  // namespace

bool Row::is(std::string_view letter) const {
  for (size_t begin = 0; begin < classes.size();) {
    const size_t end = std::min(classes.find(", ", begin), classes.size());
    if (std::string_view(classes).substr(begin, end - begin) == letter) return true;
    begin = end + 2;
  }
  return false;
}

bool Row::takes(std::string_view argument) const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const ArgumentSpec& spec) { return spec.name == argument; });
}

const std::vector<Row>& registry() {
  static const std::vector<Row> rows = make_rows();
  return rows;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Row& row : registry()) names.push_back(row.name);
  return names;
}

const Row* find(std::string_view name) {
  for (const Row& row : registry())
    if (row.name == name ||
        std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end())
      return &row;
  return nullptr;
}

}  // namespace farfield::posenc
