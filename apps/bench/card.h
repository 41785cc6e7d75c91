#pragma once

#include <string>

#include "engine/device.h"
#include "engine/dtype.h"

namespace farfield::bench {

/// What shares are of, on one device.
struct Peak {
  double gflops = 0;  ///< of products in a dtype; 0: not known
  std::string line;   ///< "2 threads, oneDNN 2.6.3, float32 FMA peak 203 GFLOP/s"

  /// A rate as a share of it; empty when it is not known.
  std::string share(double rate_gflops) const;
};

/// The rate that a card's data sheet gives for dense products summed in float32, in TFLOP/s;
/// 0 for a name that is not among them.
double card_tflops(const std::string& name, DType dtype);

/// The CPU's is measured (fma_peak_gflops(), in float32 whatever the dtype), a card's is
/// `given_tflops` or, where that is 0, card_tflops().
Peak peak_of(const Device& device, DType dtype, double given_tflops = 0);

}  // namespace farfield::bench
