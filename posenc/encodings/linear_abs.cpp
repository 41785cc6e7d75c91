// The position itself, divided by a constant, in one coordinate of the input.
// Liu et al. 2023, "Exposing Attention Glitches with Flip-Flop Language Modeling",
// arXiv:2306.00946, whose proposition on attention drift has this encoding.

#include <vector>

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// PE[m, 0] = m / scale; all other coordinates are 0.
class LinearAbs final : public Encoding {
 public:
  LinearAbs(const Arguments& a, const Config& c)
      : d_model_(c.d_model), scale_(static_cast<double>(a.integer("scale"))) {}

  Embedding embed(const Positions& p) const override {
    const auto ids = p.query_ids();
    std::vector<double> table(ids.size() * static_cast<size_t>(d_model_));
    for (size_t m = 0; m < ids.size(); ++m)
      table[m * static_cast<size_t>(d_model_)] = static_cast<double>(ids[m]) / scale_;
    return {p.query_table(table, d_model_), 1};
  }

 private:
  int64_t d_model_;
  double scale_;
};

}  // namespace

Row linear_abs_row() {
  return {.name = "linear_abs",
          .synonyms = {"linear_position", "scalar_position"},
          .classes = "I",
          .meaning = "the position over a constant, added to one coordinate of the token embedding",
          .formula = "m / scale in coordinate 0",
          .source = "Liu et al. 2023, arXiv:2306.00946",
          .arguments = {train_len_argument("scale", "tokens that count as 1")},
          .is_compared = false,
          .make = make<LinearAbs>};
}

}  // namespace farfield::posenc
