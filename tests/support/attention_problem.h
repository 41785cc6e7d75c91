#pragma once
// Attention problems of every kind, and how their results are judged.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "engine/base/parallel.h"
#include "engine/base/random.h"
#include "engine/ops/attention.h"
#include "tests/support/all_close.h"
#include "tests/support/attention_reference.h"
#include "tests/support/largest_error.h"
#include "tests/support/on_cuda.h"

namespace farfield::test {

/// encodings.md section 6: relative to the largest entry, for outputs and gradients.
inline double attention_tolerance(DType dtype, const std::string& name = "") {
  // The gradients of a row bias are sums along rows, where dS cancels to nothing; in bfloat16 each
  // row keeps what the rounding of its output, 2^-9, leaves of that.
  if (dtype == DType::bf16 &&
      (name == "dslope" || name == "doffset" || name == "dfeature" || name == "drow_factor"))
    return 5e-2;
  // Nor do the few pairs that read one entry leave more (dbias of far ids: 0.0221).
  if (dtype == DType::bf16 && name == "dbias") return 3e-2;
  return dtype == DType::f64 ? 1e-12 : dtype == DType::f32 ? 2e-5 : 2e-2;
}

inline Tensor normal(const Shape& shape, uint64_t stream, DType dtype = DType::f64,
                     double spread = 1) {
  const Random random{7, stream};
  std::vector<double> values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = spread * random.normal(i);
  return Tensor::from(values, shape, dtype);
}

/// The worst error relative to the largest entry, or to 1, the size of the inputs, where that is
/// larger: gradients of a row with one visible key are 0, as differences of numbers of that size.
inline double relative_error(const std::vector<double>& got, const std::vector<double>& want) {
  double largest = 1;
  for (const double x : want) largest = std::max(largest, std::abs(x));
  return largest_error(got, want) / largest;
}

struct Sizes {
  int64_t batch, heads, queries, keys, head_dim;
};
inline std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << "B " << s.batch << " H " << s.heads << " T " << s.queries << " S " << s.keys
             << " K " << s.head_dim;
}

struct AttentionProblem {
  Heads heads;
  Tensor dout;
  AttentionRule rule;

  DType dtype() const { return heads.q.dtype(); }
  DType acc() const { return accumulate_dtype(dtype()); }
  int64_t n_head() const { return heads.q.dim(1); }
  int64_t n_query() const { return heads.q.dim(2); }
  int64_t n_key() const { return heads.k.dim(2); }
  Tensor operator()() const { return attention(heads.q, heads.k, heads.v, rule, heads.far); }

  void add_far_heads() {
    heads.far = {normal(heads.q.shape(), 9, dtype()), normal(heads.k.shape(), 10, dtype())};
  }
  void add_bias(int64_t entries = 0) {
    rule.bias = normal({n_head(), entries ? entries : n_key()}, 5, acc());
  }
  void add_weight(int64_t entries = 0) {
    rule.weight = normal({n_head(), entries ? entries : n_key()}, 6, acc(), factor_spread());
  }
  void set_window(int64_t window, int64_t sinks) {
    rule.window = window;
    rule.sinks = sinks;
  }
  void add_row_scale() { rule.row_scale = normal({n_query()}, 8, acc(), factor_spread()); }
  /// In bfloat16 the output is rounded before gradients are formed with it; large factors would
  /// carry that beyond the tolerance.
  double factor_spread() const { return dtype() == DType::bf16 ? 0.5 : 1; }
};

inline AttentionProblem make_problem(const Sizes& s, DType dtype) {
  AttentionProblem p;
  p.heads.q = normal({s.batch, s.heads, s.queries, s.head_dim}, 1, dtype);
  p.heads.k = normal({s.batch, s.heads, s.keys, s.head_dim}, 2, dtype);
  p.heads.v = normal({s.batch, s.heads, s.keys, s.head_dim}, 3, dtype);
  p.dout = normal({s.batch, s.queries, s.heads * s.head_dim}, 4, dtype);
  return p;
}

/// Everything of a problem on a device.
inline AttentionProblem moved_to(const Device& device, AttentionProblem p) {
  const auto move = [&](Tensor& x) {
    if (x.defined()) x = x.to(device);
  };
  for (Tensor* x : {&p.heads.q, &p.heads.k, &p.heads.v, &p.heads.far.q, &p.heads.far.k, &p.dout,
                    &p.rule.ids, &p.rule.far_ids_q, &p.rule.far_ids_k})
    move(*x);
  for_each_table(p.rule, move);
  return p;
}

/// A bias of -inf but for these distances, where it is drawn.
inline void hide_all_but(AttentionProblem& p, const std::vector<int64_t>& distances) {
  const Tensor drawn = normal({p.n_head(), p.n_key()}, 5);
  std::vector<double> bias(static_cast<size_t>(drawn.numel()),
                           -std::numeric_limits<double>::infinity());
  for (int64_t h = 0; h < p.n_head(); ++h)
    for (const int64_t d : distances) {
      const auto at = static_cast<size_t>(h * p.n_key() + d);
      bias[at] = drawn.to_vector()[at];
    }
  p.rule.bias = Tensor::from(bias, drawn.shape(), p.acc());
}

/// Features and factors as in FIRE: logarithms of distance and position, so that x runs from 0 to
/// 1. f_h is continuous: offsets follow from slopes and knots.
inline void add_row_bias(AttentionProblem& p, const std::vector<double>& knots) {
  const int64_t first = p.n_key() - p.n_query();
  const auto n_segment = static_cast<int64_t>(knots.size()) + 1;
  std::vector<double> feature, factor;
  for (int64_t d = 0; d < p.n_key(); ++d)
    feature.push_back(std::log(0.3 * static_cast<double>(d) + 1));
  for (int64_t i = 0; i < p.n_query(); ++i)
    factor.push_back(1 / std::log(0.3 * static_cast<double>(std::max<int64_t>(40, first + i)) + 1));
  const std::vector<double> slope = normal({p.n_head(), n_segment}, 20).to_vector();
  std::vector<double> offset;
  for (size_t h = 0; h < static_cast<size_t>(p.n_head()); ++h) {
    const double* const row = slope.data() + h * static_cast<size_t>(n_segment);
    offset.push_back(0.25);
    for (size_t s = 0; s < knots.size(); ++s)
      offset.push_back(offset.back() + (row[s] - row[s + 1]) * knots[s]);
  }
  RowBias& bias = p.rule.row_bias;
  bias.feature = Tensor::from(feature, {p.n_key()}, p.acc());
  bias.row_factor = Tensor::from(factor, {p.n_query()}, p.acc());
  bias.knots = Tensor::from(knots, {n_segment - 1}, p.acc());
  bias.slope = Tensor::from(slope, {p.n_head(), n_segment}, p.acc());
  bias.offset = Tensor::from(offset, {p.n_head(), n_segment}, p.acc());
}

/// Knots below, between and above all x, and at none, where rounding would choose the segment; two
/// close together, two equal.
inline const std::vector<double> kKnots{-0.5, 0.1, 0.3, 0.300001, 0.42, 0.42, 0.6, 0.77, 0.9, 1.5};

/// f(name, tensor) for every input with a gradient.
template <class Problem, class F>
void for_each_input(Problem& p, const F& f) {
  const auto call = [&](const char* name, auto& x) {
    if (x.defined()) f(name, x);
  };
  call("q", p.heads.q);
  call("k", p.heads.k);
  call("v", p.heads.v);
  call("far_q", p.heads.far.q);
  call("far_k", p.heads.far.k);
  call("bias", p.rule.bias);
  call("weight", p.rule.weight);
  call("feature", p.rule.row_bias.feature);
  call("row_factor", p.rule.row_bias.row_factor);
  call("slope", p.rule.row_bias.slope);
  call("offset", p.rule.row_bias.offset);
}

using Named = std::map<std::string, Tensor>;
using TableNames = std::set<std::string>;

/// The op ("out") and all its gradients ("dq", ...); of tables only the named ones, or all.
inline Named run(AttentionProblem p, const std::optional<TableNames>& tables = {}) {
  for_each_input(p, [&](const std::string& name, Tensor& x) {
    const bool is_head = name.size() == 1 || name == "far_q" || name == "far_k";
    if (!is_head && tables && !tables->contains(name)) return;
    x = x.clone();
    x.set_requires_grad();
  });
  Named result{{"out", p()}};
  backward(result["out"], p.dout);
  for_each_input(p, [&](const std::string& name, const Tensor& x) {
    if (x.requires_grad()) result["d" + name] = x.grad();
  });
  return result;
}
/// The same on a device; all on the CPU.
inline Named run_on(const Device& device, const AttentionProblem& p,
                    const std::optional<TableNames>& tables = {}) {
  Named results = run(moved_to(device, p), tables);
  for (auto& [name, x] : results) x = x.detach().to(Device{});
  return results;
}

/// Compares every computed result of a problem with the reference.
inline void compare_results(const AttentionProblem& p, const Named& results,
                            const std::string& what) {
  const NamedValues want = AttentionReference(p.heads, p.rule, p.dout).result();
  for (const auto& [name, got] : results) {
    BOOST_REQUIRE_MESSAGE(got.defined(), name << " is missing: " << what);
    const double e = relative_error(got.to_vector(), want.at(name));
    BOOST_CHECK_MESSAGE(
        e <= attention_tolerance(p.dtype(), name),
        name << " is off by " << e << " of its largest entry: " << what << ' ' << p.dtype());
  }
}
inline void compare(const AttentionProblem& p, const std::string& what) {
  compare_results(p, run(p), what);
}

inline bool same_or_absent(const Tensor& a, const Tensor& b) {
  return a.defined() || b.defined() ? bool(same_bits(a, b)) : true;
}

/// The same bits; on a device in bfloat16, where scores by distance alone have kernels of their own
/// that take other steps, the same to rounding.
inline bool same_whatever_the_kernel(const Tensor& a, const Tensor& b, DType dtype,
                                     const std::string& name) {
  if (!is_on_cuda() || !a.defined() || !b.defined() || dtype != DType::bf16)
    return same_or_absent(a, b);
  return relative_error(a.to_vector(), b.to_vector()) <= attention_tolerance(dtype, name);
}

/// 1, 2 and 3 threads give the same bits.
inline void check_threads(const AttentionProblem& p) {
  const int before = thread_count();
  set_thread_count(1);
  const Named one = run(p);
  for (const int n : {2, 3}) {
    set_thread_count(n);
    for (const auto& [name, got] : run(p))
      BOOST_TEST(same_or_absent(got, one.at(name)), name << " with " << n << " threads");
  }
  set_thread_count(before);
}

/// The gradients of a float64 problem against central differences of loss(problem).
template <class Loss>
void check_differences_of(const Loss& loss, const AttentionProblem& p, double step,
                          double tolerance) {
  const Named got = run(p);
  for_each_input(p, [&](const std::string& name, const Tensor& x) {
    const std::vector<double> grad = got.at("d" + name).to_vector();
    for (int64_t i = 0; i < x.numel(); ++i) {
      const auto loss_at = [&](double offset) {
        AttentionProblem moved = p;
        for_each_input(moved, [&](const std::string& other, Tensor& y) {
          if (other != name) return;
          y = y.clone();
          y.data<double>()[i] += offset;
        });
        return loss(moved);
      };
      const double want = (loss_at(step) - loss_at(-step)) / (2 * step);
      BOOST_CHECK_MESSAGE(std::abs(grad[static_cast<size_t>(i)] - want) < tolerance,
                          'd' << name << '[' << i << "]: " << grad[static_cast<size_t>(i)]
                              << ", by differences " << want);
    }
  });
}

/// The same of sum(out * dout).
inline void check_differences(const AttentionProblem& p, double step = 1e-6) {
  const std::vector<double> dout = p.dout.to_vector();
  const auto loss = [&](const AttentionProblem& at) {
    const std::vector<double> out = at().to_vector();
    double sum = 0;
    for (size_t i = 0; i < out.size(); ++i) sum += out[i] * dout[i];
    return sum;
  };
  check_differences_of(loss, p, step, 1e-7);
}

}  // namespace farfield::test
