#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <memory>
#include <string>

#include "engine/autograd.h"

namespace farfield::test {

/// x, as it comes from an op that expects column sums of its gradient, which *dy then is.
inline Tensor with_column_sums_expected(const Tensor& x, const std::shared_ptr<Tensor>& dy) {
  Tensor y = x.detach();
  record("probe", y, {x}, [dy](const Tensor& gradient) {
    *dy = gradient;
    return Grads{gradient};
  });
  expect_column_sums(y);
  return y;
}

/// dy has its column sums beside it, to rounding in float32.
inline void has_column_sums(const Tensor& dy, const std::string& what) {
  const Tensor sums = dy.column_sums();
  BOOST_REQUIRE_MESSAGE(sums.defined(), what << ": no column sums");
  const std::vector<double> values = dy.to_vector(), found = sums.to_vector();
  const size_t n = found.size();
  std::vector<double> total(n), size(n);
  for (size_t i = 0; i < values.size(); ++i) {
    total[i % n] += values[i];
    size[i % n] += std::abs(values[i]);
  }
  for (size_t i = 0; i < n; ++i)
    BOOST_REQUIRE_MESSAGE(
        std::abs(found[i] - total[i]) <= 1e-6 * size[i],
        what << ": sum of column " << i << ": got " << found[i] << ", want " << total[i]);
}

}  // namespace farfield::test
