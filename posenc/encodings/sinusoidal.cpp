// Sinusoidal absolute positions, added to the token embedding.
// Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3.5.

#include <cmath>
#include <vector>

#include "engine/base/parallel.h"
#include "posenc/angles.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// interleaved: PE[m, 2i] = sin(m w_i), PE[m, 2i + 1] = cos(m w_i), w_i = base^(-2i / d_model);
// concat:      PE[m, i] = sin(m w_i), PE[m, i + d_model/2] = cos(m w_i).
class Sinusoidal final : public Encoding {
 public:
  Sinusoidal(const Arguments& a, const Config& c)
      : d_model_(c.d_model),
        interleaved_(a.word("layout") == "interleaved"),
        token_scale_(a.number("emb_scale")),
        angles_(c.d_model, a.number("base"), a.word("angle_dtype") == "bf16") {
    a.require(c.d_model % 2 == 0, "layout", "expected an even d_model, got ", c.d_model);
  }

  Embedding embed(const Positions& p) const override {
    const auto ids = p.query_ids();
    const size_t d_model = static_cast<size_t>(d_model_), half = d_model / 2;
    const size_t stride = interleaved_ ? 2 : 1, to_cos = interleaved_ ? 1 : half;
    std::vector<double> table(ids.size() * d_model);
    parallel_chunks(static_cast<int64_t>(ids.size()), 64, [&](int64_t begin, int64_t end) {
      for (auto m = static_cast<size_t>(begin); m < static_cast<size_t>(end); ++m)
        for (size_t i = 0; i < half; ++i) {
          const double angle = angles_(ids[m], i);
          double* const entry = &table[m * d_model + i * stride];
          entry[0] = std::sin(angle);
          entry[to_cos] = std::cos(angle);
        }
    });
    return {p.query_table(table, d_model_), token_scale_};
  }

 private:
  int64_t d_model_;
  bool interleaved_;
  double token_scale_;
  Angles angles_;
};

}  // namespace

Row sinusoidal_row() {
  return {.name = "sinusoidal",
          .synonyms = {"sin", "sine"},
          .classes = "I",
          .meaning = "fixed sines and cosines of the position, added to the token embedding",
          .formula = "sin(m w_i), cos(m w_i) with w_i = base^(-2i/d_model)",
          .source = "Vaswani et al. 2017, arXiv:1706.03762, section 3.5",
          .arguments = {layout_argument({"concat", "interleaved"}), base_argument(),
                        number_argument("emb_scale", 1, "factor on the token embedding").above(0),
                        angle_argument()},
          .make = make<Sinusoidal>};
}

}  // namespace farfield::posenc
