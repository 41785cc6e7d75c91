#pragma once

#include <utility>
#include <vector>

#include "engine/product_choices.h"
#include "tests/support/cuda/cublas_lt.h"

namespace farfield::test {

/// While one lives, a test may change the answers of the emulated product library. The destructor
/// restores the library, without choices.
class OtherBlas {
 public:
  OtherBlas() = default;
  /// The library proposes algorithms with these times. With the sums of a factor they take sums_us
  /// more, or less, than a separate pass takes in the emulation's time.
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
