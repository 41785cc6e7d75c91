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
#include <numeric>

#include "engine/autograd.h"
#include "engine/base/random.h"
#include "engine/base/text.h"
#include "engine/ops.h"
#include "engine/safetensors.h"
#include "posenc/formula.h"
#include "posenc/head_parameter.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// Hidden units. The pieces of the network are n_head x hidden x (hidden + 1) float64 numbers,
// several times over in a step of training: 25 MB for 12 heads and 512 units, 1.6 GB for 4096.
constexpr double kMostUnits = 512;

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
  const std::string names = joined(wanted, ", ", &Spec::name);
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

// Before any of it is taken: what over_units() makes.
void check_size(const Arguments& a, int64_t n_head) {
  constexpr int64_t kMostBytes = int64_t{256} << 20;
  const int64_t hidden = a.integer("hidden"), bytes = n_head * hidden * (hidden + 1) * 8;
  a.require(bytes <= kMostBytes, "hidden", "expected a network whose pieces, n_head x hidden x ",
            "(hidden + 1) numbers of 8 bytes, take at most ", kMostBytes >> 20, " MiB, got ",
            bytes >> 20, " MiB for ", n_head, " heads");
}

class Fire final : public Encoding {
 public:
  Fire(const Arguments& a, const Config& c) : eps_(a.number("eps")), l0_(a.number("l0")) {
    const bool learned = is_learned(a), from_file = !a.file("params").empty();
    is_kept_ = learned || from_file;
    check_size(a, c.n_head);
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
    add_pieces(bias);
    return {.row_bias = bias};
  }

  // A checkpoint keeps the values from a file, trained or not: the file may change.
  std::vector<Parameter> parameters() const override {
    return is_kept_ ? stored_ : std::vector<Parameter>();
  }

 private:
  Tensor value(Place place) const { return cast(stored_[place].value, DType::f64); }

  // The pieces of f from 0 on, between the kinks of hidden units; one for each unit and one more,
  // whatever the parameters, so that the host need not wait to know them. A unit with its kink at 0
  // or before counts as it does to the right of it.
  void add_pieces(RowBias& bias) const {
    const Tensor w1 = value(kW1), b1 = value(kB1), w2 = value(kW2), b2 = value(kB2);
    const int64_t n = w1.dim(0);
    bias.knots = sorted(kinks(w1, b1));
    const Tensor on = units_on(w1, b1, bias.knots);  // [K, K + 1]
    // [H, K] to [H, K + 1]; as sums, since devices have no products of matrices in float64
    const auto over_units = [&](const Tensor& x) {
      return sum(reshape(x, {x.dim(0), n, 1}) * on, 1);
    };
    bias.slope = over_units(w2 * w1);
    bias.offset = over_units(w2 * b1) + reshape(b2, {b2.dim(0), 1});
  }

  // Where each unit has its kink, kFar where it has none from 0 on, as with w1 = 0: [K].
  static Tensor kinks(const Tensor& w1, const Tensor& b1) {
    const NoGrad no_grad;
    const Tensor x = minimum(relu(-b1 * w1 / (w1 * w1 + 1e-300)), kFar);
    return x + (1.0 - heaviside(x)) * kFar;
  }

  // Ascending, without the host knowing the numbers: the number at place i is the least number that
  // has more than i numbers at or below it.
  static Tensor sorted(const Tensor& x) {
    const NoGrad no_grad;
    const int64_t n = x.dim(0);
    std::vector<double> places(static_cast<size_t>(n));
    std::iota(places.begin(), places.end(), 0.0);
    const Tensor column = reshape(x, {n, 1}), row = reshape(x, {1, n});
    const Tensor place = Tensor::from(places, {1, n}, DType::f64, x.device());
    const Tensor n_up_to = sum(1.0 - heaviside(row - column), 1, /*keepdim=*/true);  // [n, 1]
    const Tensor is_before = 1.0 - heaviside(n_up_to - place);                       // [n, n]
    return -max(-(column + is_before * (2 * kFar)), 0);
  }

  // 1 where unit k is above 0 in piece i: [K, K + 1].
  static Tensor units_on(const Tensor& w1, const Tensor& b1, const Tensor& knots) {
    const NoGrad no_grad;
    const int64_t n = knots.dim(0);
    const auto one = [&](double x) { return Tensor::full({1}, x, DType::f64, knots.device()); };
    const Tensor middle =
        (concat({one(0), knots}, 0) + concat({knots, one(2 * kFar)}, 0)) * 0.5;  // [K + 1]
    return heaviside(reshape(w1, {n, 1}) * middle + reshape(b1, {n, 1}));
  }

  static constexpr double kFar = 1e30;  // beyond any argument of f, and finite as a float32

  double eps_, l0_;
  bool is_kept_;
  std::vector<Parameter> stored_;  // in the order of Place
};

}  // namespace

Row fire_row() {
  return {.name = "fire",
          .classes = "B",
          .meaning = "a learned bias of the distance relative to the query's position",
          .formula =
              "bias b2_j + w2_j . relu(w1 x + b1), x = ln(|c| d + 1) / (ln(|c| max(m, |lmul `l0`|) "
              "+ 1) + `eps`), m the query's position",
          .source = "Li et al. 2023, arXiv:2310.04418, section 3",
          .arguments =
              {integer_argument("hidden", 32, "hidden units of the network")
                   .count()
                   .at_least(1)
                   .at_most(kMostUnits),
               number_argument("eps", 1e-6, "added to the logarithm that is divided by").above(0),
               number_argument(
                   "l0", 512,
                   "position below which queries count as one there, at the start of training")
                   .tokens()
                   .above(0),
               word_argument("params", {"random"}, "how the parameters start; a safetensors file")
                   .or_file(),
               learn_argument(), share_argument()},
          .family = families::kCurves,
          .make = make<Fire>};
}

}  // namespace farfield::posenc
