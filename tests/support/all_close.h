#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <iomanip>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "tests/support/messages.h"
#include "tests/support/tolerances.h"

namespace farfield {

/// BOOST_TEST(all_close(got, want, tolerance)): equal sizes and each element within the tolerance.
/// A NaN is close to nothing; infinities are close to themselves. The message names the worst
/// element.
inline boost::test_tools::assertion_result all_close(std::span<const double> got,
                                                     std::span<const double> want,
                                                     const Tolerance& tol,
                                                     const Shape& shape = {}) {
  boost::test_tools::assertion_result result(true);
  if (got.size() != want.size()) {
    result = false;
    result.message() << "expected " << want.size() << " elements, got " << got.size();
    return result;
  }
  double worst_excess = 0;
  size_t worst = 0, n_bad = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    const double allowed = tol.absolute + tol.relative * std::abs(want[i]);
    const double difference = std::abs(got[i] - want[i]);
    if (difference <= allowed && std::isfinite(want[i])) continue;
    const double excess = std::isfinite(difference) ? difference / allowed : HUGE_VAL;
    if (n_bad++ == 0 || excess > worst_excess) {
      worst_excess = excess;
      worst = i;
    }
  }
  if (n_bad == 0) return result;
  result = false;
  auto& message = result.message();
  message << std::setprecision(17) << n_bad << " of " << got.size() << " differ; worst at [";
  if (shape.numel() == static_cast<int64_t>(got.size()) && shape.rank() > 0) {
    for (int d = 0; d < shape.rank(); ++d)
      message << (d ? ", " : "")
              << static_cast<int64_t>(worst) / shape.product(d + 1, shape.rank()) % shape[d];
  } else {
    message << worst;
  }
  message << "]: got " << got[worst] << ", want " << want[worst] << ", difference "
          << got[worst] - want[worst] << ", allowed "
          << tol.absolute + tol.relative * std::abs(want[worst]);
  return result;
}

inline boost::test_tools::assertion_result all_close(const Tensor& got, const Tensor& want,
                                                     const Tolerance& tol) {
  if (!got.defined() || !want.defined() || got.shape() != want.shape()) {
    boost::test_tools::assertion_result result(false);
    const auto describe = [](const Tensor& x) {
      return x.defined() ? concat(x.shape()) : std::string("an undefined tensor");
    };
    result.message() << "expected shape " << describe(want) << ", got " << describe(got);
    return result;
  }
  return all_close(got.to_vector(), want.to_vector(), tol, got.shape());
}

/// The same bits, which a NaN has too.
inline boost::test_tools::assertion_result same_bits(const Tensor& got, const Tensor& want) {
  boost::test_tools::assertion_result result(true);
  if (!got.defined() || !want.defined() || got.shape() != want.shape() ||
      got.dtype() != want.dtype()) {
    result = false;
    result.message() << "expected tensors of one shape and dtype";
    return result;
  }
  if (got.device() != Device{} || want.device() != Device{})
    return same_bits(got.to(Device{}), want.to(Device{}));
  const auto* a = static_cast<const unsigned char*>(got.raw_data());
  const auto* b = static_cast<const unsigned char*>(want.raw_data());
  const int64_t same = std::mismatch(a, a + got.size_bytes(), b).first - a;
  if (same == got.size_bytes()) return result;
  const auto element = static_cast<size_t>(same / size_of(got.dtype()));
  result = false;
  result.message() << "first difference at element " << element << ": got " << std::setprecision(17)
                   << got.to_vector()[element] << ", want " << want.to_vector()[element];
  return result;
}

}  // namespace farfield
