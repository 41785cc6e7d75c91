#pragma once

#include <boost/test/unit_test.hpp>
#include <functional>
#include <iomanip>
#include <sstream>
#include <vector>

#include "engine/autograd.h"
#include "tests/support/random_tensor.h"
#include "tests/support/tolerances.h"

namespace farfield {

using ManyToMany = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
using ManyToOne = std::function<Tensor(const std::vector<Tensor>&)>;

/// sum over i of sum(ys[i] * dys[i]), differentiable in ys.
inline Tensor dot(const std::vector<Tensor>& ys, const std::vector<Tensor>& dys) {
  double total = 0;
  for (size_t i = 0; i < ys.size(); ++i) {
    const auto y = ys[i].to_vector(), dy = dys[i].to_vector();
    for (size_t j = 0; j < y.size(); ++j) total += y[j] * dy[j];
  }
  Tensor result = Tensor::full({}, total, DType::f64);
  record("dot", result, ys, [dys](const Tensor&) { return Grads(dys.begin(), dys.end()); });
  return result;
}

/// BOOST_TEST(gradients_agree(f, {a, b, ...})): the gradients that backward() gives for every
/// float64 input of f (int32 inputs are left alone) against central differences, through fixed
/// random output gradients. Every output of f must be float64. Reports the worst input and index.
inline boost::test_tools::assertion_result gradients_agree(
    const ManyToMany& f, const std::vector<Tensor>& inputs,
    const Tolerance& tol = tolerance(DType::f64, Work::gradient), double step = 1e-5) {
  boost::test_tools::assertion_result result(true);
  std::vector<Tensor> leaves, dys;
  for (const Tensor& x : inputs) {
    leaves.push_back(x.defined() ? x.clone() : Tensor());
    if (x.defined() && x.dtype() == DType::f64) leaves.back().set_requires_grad();
  }
  const std::vector<Tensor> ys = f(leaves);
  for (size_t i = 0; i < ys.size(); ++i)
    dys.push_back(random_tensor(ys[i].shape(), 9000 + i, -1, 1, ys[i].dtype()));
  const Tensor total = dot(ys, dys);
  if (total.needs_grad()) backward(total);  // else every gradient is zero

  double worst_excess = 1;
  std::ostringstream worst;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!leaves[i].requires_grad()) continue;
    const std::vector<double> got =
        leaves[i].grad().defined() ? leaves[i].grad().to_vector()
                                   : std::vector<double>(static_cast<size_t>(inputs[i].numel()));
    for (int64_t j = 0; j < inputs[i].numel(); ++j) {
      const NoGrad no_grad;
      std::vector<Tensor> moved = inputs;
      const auto value_at = [&](double offset) {
        moved[i] = inputs[i].clone();
        moved[i].data<double>()[j] += offset;
        return dot(f(moved), dys).item();
      };
      const double want = (value_at(step) - value_at(-step)) / (2 * step);
      const double allowed = tol.absolute + tol.relative * std::abs(want);
      const double difference = std::abs(got[static_cast<size_t>(j)] - want);
      const double excess = std::isfinite(difference) ? difference / allowed : HUGE_VAL;
      if (excess > worst_excess) {
        worst_excess = excess;
        result = false;
        worst.str("");
        worst << std::setprecision(12) << "input " << i << ", element " << j << " of shape "
              << inputs[i].shape() << ": gradient " << got[static_cast<size_t>(j)]
              << ", central difference " << want << ", difference " << difference << ", allowed "
              << allowed;
      }
    }
  }
  if (!result) result.message() << worst.str();
  return result;
}

/// The same for a single output.
inline boost::test_tools::assertion_result gradients_agree(
    const ManyToOne& f, const std::vector<Tensor>& inputs,
    const Tolerance& tol = tolerance(DType::f64, Work::gradient), double step = 1e-5) {
  return gradients_agree(
      ManyToMany([&f](const std::vector<Tensor>& xs) { return std::vector<Tensor>{f(xs)}; }),
      inputs, tol, step);
}

}  // namespace farfield
