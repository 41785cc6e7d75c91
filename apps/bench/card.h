#pragma once

#include <string>

#include "apps/cli/table.h"
#include "engine/device.h"
#include "engine/dtype.h"

namespace farfield::bench {

/// The peak rate of one device, for shares of it.
struct Peak {
  double gflops = 0;  ///< peak of products in a dtype; 0: not known
  std::string line;   ///< "2 threads, Farfield, float32 FMA peak 203 GFLOP/s"

  /// A rate as a share of the peak; no value when the peak is not known.
  cli::Cell share(double rate_gflops) const;
};

/// The rate that a card's data sheet gives for dense products summed in float32, in TFLOP/s;
/// 0 for an unknown name.
double card_tflops(const std::string& name, DType dtype);

/// The peak of a device. The CPU's is measured: of FMA in float32, for bfloat16 of VDPBF16PS where
/// products use it.
/// A card's is `given_tflops`, or card_tflops() if `given_tflops` is 0.
Peak peak_of(const Device& device, DType dtype, double given_tflops = 0);

}  // namespace farfield::bench
