#include "tests/support/attention_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/base/random.h"
#include "tests/support/dot.h"

namespace farfield::test {
namespace {

struct Pair {
  bool is_visible = false, is_far = false;
  int64_t entry = 0, segment = 0;
  double x = 0;  // of the row bias
  double content = 0, weight = 1, score = 0, probability = 0;
  double kept = 1;   // what dropout multiplies the probability by
  double share = 0;  // of its group, Kind::landmark
};

// Kind::landmark by its definition, for the row of query m: each group is a list of its pairs.
class Groups {
 public:
  Groups(std::vector<Pair>& pairs, int64_t block) : pairs_(pairs) {
    const auto m = static_cast<int64_t>(pairs.size()) - 1;
    const int64_t own = m / (block + 1);
    groups_.resize(static_cast<size_t>(own + 1));  // that of the own block is the last
    for (int64_t n = 0; n <= m; ++n) {
      const int64_t b = n / (block + 1);
      const bool is_landmark = n % (block + 1) == block;
      if (is_landmark && b < own) landmark_.push_back(n);
      if (is_landmark && b == own) continue;
      groups_.at(static_cast<size_t>(is_landmark ? own : b)).push_back(n);
    }
    for (size_t b = 0; b < landmark_.size(); ++b)
      if (shares(groups_[b]) == 0)
        at(landmark_[b]).score = -std::numeric_limits<double>::infinity();
    shares(groups_.back());
    for (const int64_t n : groups_.back()) at(n).probability = at(n).share;
    for (size_t b = 0; b < landmark_.size(); ++b) {
      at(landmark_[b]).probability = 0;
      for (const int64_t n : groups_[b]) at(n).probability = at(n).share * at(landmark_[b]).share;
    }
  }

  // The gradients of the scores from those of the probabilities, dp by key: the chain rule through
  // the product, then through each softmax.
  std::vector<double> score_gradients(const std::vector<double>& dp) const {
    std::vector<double> dshare = dp, dscore(dp.size());
    for (size_t b = 0; b < landmark_.size(); ++b) {
      double& dlandmark = dshare.at(static_cast<size_t>(landmark_[b]));
      dlandmark = 0;
      for (const int64_t n : groups_[b]) {
        dlandmark += dp.at(static_cast<size_t>(n)) * at(n).share;
        dshare.at(static_cast<size_t>(n)) *= at(landmark_[b]).share;
      }
    }
    for (const std::vector<int64_t>& group : groups_) {
      double mean = 0;
      for (const int64_t n : group) mean += at(n).share * dshare.at(static_cast<size_t>(n));
      for (const int64_t n : group)
        dscore.at(static_cast<size_t>(n)) =
            at(n).share * (dshare.at(static_cast<size_t>(n)) - mean);
    }
    return dscore;
  }

 private:
  Pair& at(int64_t n) const { return pairs_.at(static_cast<size_t>(n)); }
  // The softmax of a group; 0 if it has nothing to see.
  double shares(const std::vector<int64_t>& group) const {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const int64_t n : group) largest = std::max(largest, at(n).score);
    for (const int64_t n : group)
      sum += at(n).share = std::isinf(at(n).score) ? 0 : std::exp(at(n).score - largest);
    for (const int64_t n : group)
      if (sum > 0) at(n).share /= sum;
    return sum;
  }

  std::vector<Pair>& pairs_;
  std::vector<std::vector<int64_t>> groups_;
  std::vector<int64_t> landmark_;
};

}  // namespace

AttentionReference::AttentionReference(const Heads& heads, const AttentionRule& rule,
                                       const Tensor& dout)
    : rule_(rule),
      n_batch_(heads.q.dim(0)),
      n_head_(heads.q.dim(1)),
      n_query_(heads.q.dim(2)),
      n_key_(heads.k.dim(2)),
      head_dim_(heads.q.dim(3)),
      n_entry_(rule.bias.defined()     ? rule.bias.dim(1)
               : rule.weight.defined() ? rule.weight.dim(1)
                                       : 0),
      q_(heads.q),
      k_(heads.k),
      v_(heads.v),
      far_q_(heads.far.q),
      far_k_(heads.far.k),
      bias_(rule.bias),
      weight_(rule.weight),
      row_scale_(rule.row_scale),
      ids_(rule.ids),
      far_ids_q_(rule.far_ids_q),
      far_ids_k_(rule.far_ids_k),
      feature_(rule.row_bias.feature),
      row_factor_(rule.row_bias.row_factor),
      knots_(rule.row_bias.knots),
      slope_(rule.row_bias.slope),
      offset_(rule.row_bias.offset),
      out_(dout) {
  if (rule.normalizer.kind == Normalizer::Kind::linear) take_features();
  for (int64_t b = 0; b < n_batch_; ++b)
    for (int64_t h = 0; h < n_head_; ++h)
      for (int64_t i = 0; i < n_query_; ++i) row(b, h, i);
  if (rule.normalizer.kind == Normalizer::Kind::linear) leave_features();
}

void AttentionReference::take_features() {
  for (Values* x : {&q_, &k_, &far_q_, &far_k_})
    for (double& y : x->value) y = y > 0 ? y + 1 : std::exp(y);
}

void AttentionReference::leave_features() {
  for (Values* x : {&q_, &k_, &far_q_, &far_k_})
    for (size_t i = 0; i < x->value.size(); ++i) x->grad[i] *= std::min(x->value[i], 1.0);
}

NamedValues AttentionReference::result() const {
  return {{"out", out_.grad},
          {"dq", q_.grad},
          {"dk", k_.grad},
          {"dv", v_.grad},
          {"dfar_q", far_q_.grad},
          {"dfar_k", far_k_.grad},
          {"dbias", bias_.grad},
          {"dweight", weight_.grad},
          {"dfeature", feature_.grad},
          {"drow_factor", row_factor_.grad},
          {"dslope", slope_.grad},
          {"doffset", offset_.grad}};
}

// Rows of head_dim numbers.
double AttentionReference::dot(const Values& a, int64_t a_at, const Values& b, int64_t b_at) const {
  return test::dot(&a.value.at(static_cast<size_t>(a_at)), &b.value.at(static_cast<size_t>(b_at)),
                   head_dim_);
}

void AttentionReference::add(std::vector<double>& to, int64_t to_at, double by, const Values& from,
                             int64_t from_at) const {
  double* const y = &to.at(static_cast<size_t>(to_at));
  const double* const x = &from.value.at(static_cast<size_t>(from_at));
  for (int64_t c = 0; c < head_dim_; ++c) y[c] += by * x[c];
}

int64_t AttentionReference::entry_of(int64_t b, int64_t i, int64_t m, int64_t n,
                                     bool is_far) const {
  if (is_far && far_ids_q_.given()) return static_cast<int64_t>(far_ids_q_[i] - far_ids_k_[n]);
  if (!ids_.given()) return m - n;
  const int64_t at = rule_.ids.rank() == 2 ? b * n_key_ : 0;
  return static_cast<int64_t>(ids_[at + m] - ids_[at + n]);
}

// Dropout as engine/attention_rule.h defines it.
double AttentionReference::kept(int64_t b, int64_t h, int64_t i, int64_t n) const {
  const auto& [p, random, stream, first_head, n_head_of_all] = rule_.dropout;
  require<Error>(!stream.defined(), "reference", "expected a mask by `random`");
  const double dropped = std::floor(p * 65536 + 0.5);
  if (dropped == 0) return 1;
  const int64_t n_head = n_head_of_all == 0 ? n_head_ : n_head_of_all;
  const int64_t row = (first_head + b * n_head + h) * n_query_ + i, groups = (n_key_ + 7) / 8;
  const PhiloxBlock block =
      philox(random.seed, random.stream, static_cast<uint64_t>(row * groups + n / 8));
  const uint64_t four = n % 8 < 4 ? block.low() : block.high();
  return static_cast<uint16_t>(four >> (16 * (n % 4))) >= dropped ? 65536 / (65536 - dropped) : 0;
}

// Row i of head h of sequence b, and its part in all gradients.
void AttentionReference::row(int64_t b, int64_t h, int64_t i) {
  const int64_t m = n_key_ - n_query_ + i;
  const int64_t q_at = ((b * n_head_ + h) * n_query_ + i) * head_dim_;
  const int64_t out_at = ((b * n_query_ + i) * n_head_ + h) * head_dim_;
  const auto k_at = [&](int64_t n) { return ((b * n_head_ + h) * n_key_ + n) * head_dim_; };
  const int64_t segments = static_cast<int64_t>(knots_.value.size()) + 1;
  const double factor =
      (row_scale_.given() ? row_scale_[i] : 1) / std::sqrt(static_cast<double>(head_dim_));
  const double infinity = std::numeric_limits<double>::infinity();

  std::vector<Pair> pairs(static_cast<size_t>(m + 1));
  double n_visible = 0, largest = -infinity;
  for (int64_t n = 0; n <= m; ++n) {
    Pair& p = pairs[static_cast<size_t>(n)];
    p.is_visible = rule_.window == 0 || m - n < rule_.window || n < rule_.sinks;
    if (!p.is_visible) continue;
    ++n_visible;
    p.is_far =
        rule_.switch_distance > 0 && m - n >= rule_.switch_distance && m >= rule_.switch_position;
    const bool copies = p.is_far && far_q_.given();
    p.content = factor * dot(copies ? far_q_ : q_, q_at, copies ? far_k_ : k_, k_at(n));
    p.entry = h * n_entry_ + entry_of(b, i, m, n, p.is_far);
    if (weight_.given()) p.weight = weight_[p.entry];
    p.score = p.content * p.weight + (bias_.given() ? bias_[p.entry] : 0);
    if (feature_.given()) {
      p.x = feature_[m - n] * row_factor_[i];
      p.segment = h * segments;
      for (const double knot : knots_.value) p.segment += p.x >= knot;
      p.score += slope_[p.segment] * p.x + offset_[p.segment];
    }
    largest = std::max(largest, p.score);
  }

  using Kind = Normalizer::Kind;
  const Kind kind = rule_.normalizer.kind;
  const double parameter = rule_.normalizer.parameter;
  const bool is_softmax = !rule_.normalizer.is_relu();
  if (is_softmax && largest == -infinity) return;
  const double threshold = kind == Kind::clamp_absolute   ? std::min(parameter, largest)
                           : kind == Kind::clamp_relative ? largest - parameter
                                                          : -infinity;
  std::optional<Groups> groups;
  if (kind == Kind::landmark) groups.emplace(pairs, rule_.normalizer.block);
  double total = 0;
  for (Pair& p : pairs) {
    if (!p.is_visible || groups) continue;
    if (is_softmax)
      p.probability = p.score < threshold ? 0 : std::exp(p.score - largest);
    else
      p.probability = std::max(0.0, p.score);
    total += p.probability;
  }
  const double divisor = kind == Kind::relu                   ? parameter * std::sqrt(n_visible / 2)
                         : kind == Kind::relu_seqlen          ? n_visible
                         : kind == Kind::relu_plain || groups ? 1
                                                              : total;
  if (divisor == 0) return;  // nothing is seen
  double mean = 0;
  for (int64_t n = 0; n <= m; ++n) {
    Pair& p = pairs[static_cast<size_t>(n)];
    p.probability /= divisor;
    p.kept = kept(b, h, i, n);
    add(out_.grad, out_at, p.probability * p.kept, v_, k_at(n));
    add(v_.grad, k_at(n), p.probability * p.kept, out_, out_at);
    mean += p.probability * p.kept * dot(out_, out_at, v_, k_at(n));
  }
  // The gradient of penalty * mean over rows of (sum of P - 1)^2.
  const double dpenalty = 2 * rule_.normalizer.penalty * (total / divisor - 1) /
                          static_cast<double>(n_batch_ * n_head_ * n_query_);
  std::vector<double> dps, by_groups;
  for (int64_t n = 0; n <= m; ++n)
    dps.push_back(pairs[static_cast<size_t>(n)].kept * dot(out_, out_at, v_, k_at(n)));
  if (groups) by_groups = groups->score_gradients(dps);
  for (int64_t n = 0; n <= m; ++n) {
    const Pair& p = pairs[static_cast<size_t>(n)];
    if (!p.is_visible) continue;
    const double dp = dps[static_cast<size_t>(n)];
    const double ds = groups                 ? by_groups[static_cast<size_t>(n)]
                      : is_softmax           ? p.probability * (dp - mean)
                      : !(p.score > 0)       ? 0
                      : kind == Kind::linear ? (dp - mean) / divisor
                                             : (dp + dpenalty) / divisor;
    const double dc = ds * factor * p.weight;
    const bool copies = p.is_far && far_q_.given();
    Values &q = copies ? far_q_ : q_, &k = copies ? far_k_ : k_;
    add(q.grad, q_at, dc, k, k_at(n));
    add(k.grad, k_at(n), dc, q, q_at);
    if (bias_.given()) bias_.d(p.entry) += ds;
    if (weight_.given()) weight_.d(p.entry) += ds * p.content;
    if (!feature_.given()) continue;
    slope_.d(p.segment) += ds * p.x;
    offset_.d(p.segment) += ds;
    const double dx = ds * slope_[p.segment];
    feature_.d(m - n) += dx * row_factor_[i];
    row_factor_.d(i) += dx * feature_[m - n];
  }
}

}  // namespace farfield::test
