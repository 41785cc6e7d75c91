#include "posenc/rows.h"

namespace farfield::posenc {

Factory make_learned_abs, make_none, make_sinusoidal;

std::vector<Row> input_rows() {
  return {
      {"learned_abs",
       {},
       "I",
       "a trained vector per position, added to the token embedding",
       make_learned_abs,
       {train_len_argument("max_positions", "rows of the table; longer inputs are refused")}},
      {"none", {"nope", "no_pe"}, "-", "the causal mask alone", make_none, {}},
      {"sinusoidal",
       {},
       "I",
       "fixed sines and cosines of the position, added to the token embedding",
       make_sinusoidal,
       {layout_argument({"concat", "interleaved"}), base_argument(),
        number_argument("emb_scale", 1, "factor on the token embedding").above(0),
        angle_argument()}},
  };
}

}  // namespace farfield::posenc
