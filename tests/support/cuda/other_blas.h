#pragma once

#include <utility>
#include <vector>

#include "engine/product_choices.h"
#include "tests/support/cuda/cublas_lt.h"

namespace farfield::test {

/// While it lives a test may have the emulated library of products answer otherwise. Afterwards it
/// is as it was, and without choices.
class OtherBlas {
 public:
  OtherBlas() = default;
  /// It proposes algorithms that take so long, and with the sums of a factor by so much more, or
  /// less, than a pass of ours has of the emulation's time.
  explicit OtherBlas(std::vector<double> times_us, double sums_us = -1e5) {
    propose(std::move(times_us));
    emulation::emulated_blas().sums_us = sums_us;
  }
  OtherBlas(const OtherBlas&) = delete;
  OtherBlas& operator=(const OtherBlas&) = delete;
  ~OtherBlas() {
    as_before();
    use_product_choices({Device::Kind::cuda, 0}, {});
  }

  static void propose(std::vector<double> times_us) {
    emulation::emulated_blas().n_algorithms = static_cast<int>(times_us.size());
    emulation::emulated_blas().times_us = std::move(times_us);
  }
  void as_before() const { emulation::emulated_blas() = before_; }

 private:
  const emulation::Blas before_ = emulation::emulated_blas();
};

}  // namespace farfield::test
