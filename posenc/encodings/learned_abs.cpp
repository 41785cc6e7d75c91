// Learned absolute positions: row p of a trained table is added to the token embedding.
// Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", arXiv:1705.03122,
// section 3.1.

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/random.h"
#include "engine/ops.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class LearnedAbs final : public Encoding {
 public:
  LearnedAbs(const Arguments& a, const Config& c)
      : name_(a.path()), max_positions_(a.integer("max_positions")) {
    a.require(max_positions_ <= kMaxElements / c.d_model, "max_positions",
              "expected a table of at most ", kMaxElements, " elements, got ", max_positions_,
              " positions of ", c.d_model);
    const Random random{c.seed, stream_of("posenc." + name_ + ".weight")};
    std::vector<double> values(static_cast<size_t>(max_positions_ * c.d_model));
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.02 * random.normal(i);
    weight_ = Tensor::from(values, {max_positions_, c.d_model}, c.dtype, c.device);
    weight_.set_requires_grad();
  }

  Embedding embed(const Positions& p) const override {
    std::vector<int32_t> rows;
    for (const double id : p.query_ids()) {
      require<PositionError>(id >= 0 && id < static_cast<double>(max_positions_), "posenc",
                             "expected positions below the ", max_positions_, " rows of ", name_,
                             ", got ", id,
                             "; this encoding has no values beyond its table, choose a shorter "
                             "length or train with learned_abs(max_positions=...)");
      require<ConfigError>(id == std::floor(id), "posenc", "expected whole positions for ", name_,
                           ", got ", id);
      rows.push_back(static_cast<int32_t>(id));
    }
    const Tensor ids = Tensor::from(rows, p.query_shape(), p.device);
    return {embedding(weight_, ids, weight_.dtype())};
  }

  std::vector<Parameter> parameters() const override {
    return {{name_ + ".weight", weight_, /*decay=*/false}};
  }

 private:
  static constexpr int64_t kMaxElements = int64_t{1} << 31;

  std::string name_;
  int64_t max_positions_;
  Tensor weight_;  // [max_positions, D]
};

}  // namespace

Row learned_abs_row() {
  return {.name = "learned_abs",
          .synonyms = {"learned", "absolute"},
          .classes = "I",
          .meaning = "a trained vector per position, added to the token embedding",
          .formula = "row m of a table [`max_positions`, d_model]",
          .source = "Gehring et al. 2017, arXiv:1705.03122, section 3.1",
          .arguments = {train_len_argument("max_positions",
                                           "rows of the table; longer inputs are refused")},
          .stored_as = "gpt_neox.embed_positions",
          .make = make<LearnedAbs>};
}

}  // namespace farfield::posenc
