// FIRE: a learned bias of the distance relative to the query's position.
// Li, You, Guruganesh, Ainslie, Ontanon, Zaheer, Sanghai, Yang, Kumar and Bhojanapalli 2023,
// "Functional Interpolation for Relative Positions Improves Long Context Transformers",
// arXiv:2310.04418, section 3; initial values as in a published program.
//
//   b_h[m, d] = f_h(x),  x = ln(|c| d + 1) / (ln(|c| max(m, |lmul l0|) + 1) + eps)
//   f_h(x) = b2_h + sum over k of w2[h, k] relu(w1_k x + b1_k)
//
// f is piecewise linear in one variable: the attention op takes its pieces, never a [T, S] matrix.

#include <algorithm>
#include <cmath>

#include "engine/base/random.h"
#include "engine/ops.h"
#include "engine/safetensors.h"
#include "posenc/absolute.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

enum Place { kC, kLmul, kW1, kB1, kW2, kB2, kCount };

struct Spec {
  const char* name;
  Shape shape;
  double low, high;  // initial values, uniform
};
std::vector<Spec> specs(int64_t hidden, int64_t n_head) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));  // 1/sqrt(fan_in) of a layer
  return {{"c", {1}, 0.1, 0.1},
          {"lmul", {1}, 1, 1},
          {"w1", {hidden}, -1, 1},
          {"b1", {hidden}, -1, 1},
          {"w2", {n_head, hidden}, -bound, bound},
          {"b2", {n_head}, -bound, bound}};
}

Tensor drawn(const Spec& spec, const Arguments& a, const Config& c) {
  const Random random{c.seed, stream_of(concat("posenc.", a.path(), '.', spec.name))};
  std::vector<double> values;
  for (int64_t i = 0; i < spec.shape.numel(); ++i)
    values.push_back(spec.low + (spec.high - spec.low) * random.uniform(static_cast<uint64_t>(i)));
  return Tensor::from(values, spec.shape, DType::f64);
}

// The sizes other than 1, in order.
std::vector<int64_t> sizes(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) sizes.push_back(shape[i]);
  return sizes;
}

// The tensors of a file, in the order of `wanted`.
std::vector<Tensor> loaded(const std::vector<Spec>& wanted, const Arguments& a) {
  const std::string path = a.file("params");
  const auto tensors = read_safetensors(path).tensors;
  std::string names;
  for (const Spec& spec : wanted) names += (names.empty() ? "" : ", ") + std::string(spec.name);
  for (const auto& [name, tensor] : tensors)
    a.require(std::any_of(wanted.begin(), wanted.end(),
                          [&, &n = name](const Spec& spec) { return spec.name == n; }),
              "params", path, ": expected tensors ", names, ", got '", name, "' too");
  std::vector<Tensor> all;
  for (const Spec& spec : wanted) {
    const auto found = tensors.find(spec.name);
    a.require(found != tensors.end(), "params", path, ": expected tensors ", names, ", got no ",
              spec.name);
    const Tensor& x = found->second;
    a.require(sizes(x.shape()) == sizes(spec.shape), "params", path, ": expected ", spec.name,
              " of shape ", spec.shape, " (hidden is ", a.integer("hidden"), "), got ", x.shape());
    a.require(is_float(x.dtype()), "params", path, ": expected ", spec.name,
              " in a floating type, got ", x.dtype());
    const std::vector<double> values = x.to_vector();
    for (const double value : values)
      a.require(std::isfinite(value), "params", path, ": expected finite numbers, got ", value,
                " in ", spec.name);
    all.push_back(Tensor::from(values, spec.shape, DType::f64));
  }
  return all;
}

class Fire final : public Encoding {
 public:
  Fire(const Arguments& a, const Config& c) : eps_(a.number("eps")), l0_(a.number("l0")) {
    const bool learned = is_learned(a), from_file = !a.file("params").empty();
    is_kept_ = learned || from_file;
    const std::vector<Spec> wanted = specs(a.integer("hidden"), c.n_head);
    std::vector<Tensor> start;
    if (from_file) start = loaded(wanted, a);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Tensor values = start.empty() ? drawn(wanted[i], a, c) : start[i];
      Tensor stored = Tensor::from(values.to_vector(), wanted[i].shape,
                                   is_kept_ ? c.dtype : DType::f64, c.device);
      stored.set_requires_grad(learned);
      stored_.push_back({concat(a.path(), '.', wanted[i].name), stored, false});
    }
  }

  ScoreRule score(const Positions& p) const override {
    require<ConfigError>(p.n_row() == 1, "posenc",
                         "fire expects the positions of all sequences to be the same, got a remap "
                         "that draws for each");
    const Tensor c = absolute(value(kC));
    RowBias bias;
    bias.feature = log1p(c * p.distances());  // [L]
    // A remap that draws distances apart from positions must not put a key before the first one.
    std::vector<double> m = p.query_ids();
    if (p.entry == Positions::Entry::distance)
      for (size_t i = 0, first = p.distance.size() - m.size(); i < m.size(); ++i)
        m[i] = std::max(m[i], p.distance[first + i]);
    const Tensor far = maximum(Tensor::from(m, p.query_shape(), DType::f64, p.device),
                               absolute(value(kLmul) * l0_));
    bias.row_factor = 1.0 / (log1p(c * far) + eps_);  // [T]
    const auto largest = [](const Tensor& x) {
      const std::vector<double> all = x.to_vector();
      return *std::max_element(all.begin(), all.end());
    };
    add_pieces(largest(bias.feature) * largest(bias.row_factor), bias);
    return {.row_bias = bias};
  }

  // A checkpoint keeps what a file said, trained or not: the file may change.
  std::vector<Parameter> parameters() const override {
    return is_kept_ ? stored_ : std::vector<Parameter>();
  }

 private:
  Tensor value(Place place) const { return cast(stored_[place].value, DType::f64); }

  // The pieces of f between 0 and `end`, between the kinks of hidden units. A unit with its kink at
  // 0 counts as it does to the right of it.
  void add_pieces(double end, RowBias& bias) const {
    const Tensor w1 = value(kW1), b1 = value(kB1), w2 = value(kW2), b2 = value(kB2);
    const std::vector<double> slope = w1.to_vector(), offset = b1.to_vector();
    std::vector<double> knots;
    for (size_t k = 0; k < slope.size(); ++k) {
      const double kink = -offset[k] / slope[k];  // w1 = 0: not finite, no kink
      if (kink > 0 && kink < end) knots.push_back(kink);
    }
    std::sort(knots.begin(), knots.end());
    const size_t n_piece = knots.size() + 1;
    std::vector<double> is_on(slope.size() * n_piece);
    for (size_t i = 0; i < n_piece; ++i) {
      const double left = i == 0 ? 0 : knots[i - 1], right = i < knots.size() ? knots[i] : end;
      for (size_t k = 0; k < slope.size(); ++k)
        is_on[k * n_piece + i] = slope[k] * (left + right) / 2 + offset[k] > 0;
    }
    const auto n = static_cast<int64_t>(n_piece);
    const Tensor on = Tensor::from(is_on, {w1.dim(0), n}, DType::f64, w1.device());
    // [H, K] to [H, N + 1]; as sums, since devices have no products of matrices in float64
    const auto over_units = [&](const Tensor& x) {
      return sum(reshape(x, {x.dim(0), x.dim(1), 1}) * on, 1);
    };
    bias.knots = Tensor::from(knots, {static_cast<int64_t>(knots.size())}, DType::f64, w1.device());
    bias.slope = over_units(w2 * w1);
    bias.offset = over_units(w2 * b1) + reshape(b2, {b2.dim(0), 1});
  }

  double eps_, l0_;
  bool is_kept_;
  std::vector<Parameter> stored_;  // in the order of Place
};

}  // namespace

std::unique_ptr<Encoding> make_fire(const Arguments& a, const Config& c) {
  return std::make_unique<Fire>(a, c);
}

}  // namespace farfield::posenc
