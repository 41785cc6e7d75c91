// The relative position bias of T5: a learned number per head and bucket of distances, one bucket
// for each near distance, then wider ones.
// Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer", arXiv:1910.10683, section 2.1; the buckets as in its program, all for the past.
// Added with the gain sqrt(head_dim), as GPT-NeoX does: T5 itself has no 1/sqrt(head_dim).

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/random.h"
#include "engine/ops.h"
#include "posenc/head_parameter.h"
#include "posenc/number_table.h"
#include "posenc/rescale.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// With B buckets, E = B/2 and the maximum M:
//   bucket(d) = floor(d)                                                      d < E
//             = min(B - 1, E + floor(ln(d/E) / ln(M/E) (B - E)))              d >= E
class Buckets {
 public:
  explicit Buckets(const Arguments& a) : n_(a.integer("num_buckets")), n_exact_(n_ / 2) {
    const int64_t max_distance = a.integer("max_distance");
    a.require(n_ % 2 == 0, "num_buckets", "expected an even number, got ", n_);
    a.require(max_distance > n_exact_, "max_distance", "expected more than the ", n_exact_,
              " distances with a bucket of their own, got ", max_distance);
    const auto exact = static_cast<double>(n_exact_);
    per_fold_ =
        static_cast<double>(n_ - n_exact_) / std::log(static_cast<double>(max_distance) / exact);
  }

  int64_t size() const { return n_; }
  int32_t operator()(double d) const {
    const auto exact = static_cast<double>(n_exact_), last = static_cast<double>(n_ - 1);
    if (d < exact) return static_cast<int32_t>(std::max(d, 0.0));
    // Where a bucket begins at a whole distance, rounding must not put it below: no other distance
    // is that near.
    constexpr double kRounding = 1e-12;
    const double wide = std::log(d / exact) * per_fold_;
    return static_cast<int32_t>(std::min(last, exact + std::floor(wide * (1 + kRounding))));
  }

 private:
  int64_t n_, n_exact_;
  double per_fold_;  // buckets from a distance to e times it
};

class T5 final : public Encoding {
 public:
  T5(const Arguments& a, const Config& c)
      : buckets_(a),
        name_(a.path() + ".table"),
        is_kept_(is_learned(a) || !a.file("table").empty()) {
    table_ = Tensor::from(initial_values(a, c), {buckets_.size(), c.n_head},
                          is_kept_ ? c.dtype : DType::f64, c.device);
    table_.set_requires_grad(is_learned(a));
  }

  ScoreRule score(const Positions& p) const override {  // b_h(d) = table[bucket(d), h]
    std::vector<int32_t> ids;
    for (const double d : p.distance) ids.push_back(buckets_(d));
    const Tensor rows = embedding(cast(table_, DType::f64),
                                  Tensor::from(ids, {static_cast<int64_t>(ids.size())}, p.device),
                                  DType::f64);  // [S, H]
    return {.bias = permute(rows, {1, 0})};
  }

  // A checkpoint keeps the values from a file, trained or not: the file may change.
  std::vector<Parameter> parameters() const override {
    if (!is_kept_) return {};
    return {{name_, table_, /*decay=*/false}};
  }

 private:
  std::vector<double> initial_values(const Arguments& a, const Config& c) const {
    if (!a.file("table").empty())
      return read_number_table("t5(table)", a.file("table"), buckets_.size(), c.n_head);
    std::vector<double> values;
    if (a.has("table")) {
      const std::vector<double> row = a.per_head("table");
      for (int64_t b = 0; b < buckets_.size(); ++b)
        values.insert(values.end(), row.begin(), row.end());
      return values;
    }
    // Xavier normal. Glorot and Bengio 2010, "Understanding the difficulty of training deep
    // feedforward neural networks", equation (12) gives its variance.
    const Random random{c.seed, stream_of("posenc." + name_)};
    const auto n = static_cast<uint64_t>(buckets_.size() * c.n_head);
    const double deviation = std::sqrt(2 / static_cast<double>(buckets_.size() + c.n_head));
    for (uint64_t i = 0; i < n; ++i) values.push_back(deviation * random.normal(i));
    return values;
  }

  Buckets buckets_;
  std::string name_;
  bool is_kept_;  // in checkpoints
  Tensor table_;  // [B, H]
};

// Buckets and their reach go together: half of a sixteenth of the training length with a bucket of
// their own, and a quarter of it as reach, at least 16 of each. What is written stays.
void rescale_buckets(ParsedTerm& term, const LengthChange& change) {
  if (find_argument(term, "num_buckets") != nullptr ||
      find_argument(term, "max_distance") != nullptr)
    return;
  const int64_t n_exact = std::max<int64_t>(8, change.train_len / 32);
  term.arguments.push_back({.name = "num_buckets", .value = Value(2 * n_exact)});
  term.arguments.push_back(
      {.name = "max_distance", .value = Value(std::max<int64_t>(16, change.train_len / 4))});
}

}  // namespace

Row t5_row() {
  return {
      .name = "t5",
      .synonyms = {"t5_bias", "relative_bias"},
      .classes = "T-b",
      .meaning = "a learned bias per head and bucket of distances",
      .formula =
          "b = table[bucket(d)], bucket(d) = d below E = num_buckets/2, then min(num_buckets - 1, "
          "E + floor(ln(d/E) / ln(max_distance/E) E))",
      .source = "Raffel et al. 2020, arXiv:1910.10683, section 2.1",
      .arguments = {integer_argument("num_buckets", 32,
                                     "buckets, even; half of them hold one distance each")
                        .count()
                        .at_least(2)
                        .at_most(65536),
                    integer_argument("max_distance", 128,
                                     "from about here on all distances are in one bucket")
                        .tokens()
                        .at_least(2),
                    per_head_argument(
                        "table", "N(0, 2/(num_buckets + n_head))",
                        "the start of training; a file has num_buckets lines of n_head numbers, "
                        "with commas")
                        .or_file(),
                    learn_argument(), share_argument(),
                    required_number("bias_scale", "factor on the bias; 1: as in T5 itself")
                        .derived("sqrt(head_dim)",
                                 [](const Config& c, const Arguments&) {
                                   return Value(std::sqrt(static_cast<double>(c.head_dim)));
                                 })},
      .family = families::kCurves,
      .make = make<T5>,
      .rescale = rescale_buckets};
}

}  // namespace farfield::posenc
