#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/base/random.h"
#include "engine/device.h"
#include "engine/host_device.h"
#include "engine/tensor.h"

namespace farfield {

/// Which elements of an array are dropped. Element i has 16 random bits of its own, half i % 8 of
/// block i / 8, so a mask needs no memory: it is made again from this wherever it is needed.
struct DropoutMask {
  static constexpr int kGroup = 8;  ///< elements that share a block of bits
  static constexpr uint32_t kAll = uint32_t{1} << 16;

  Random random;
  uint32_t n_dropped = 0;    ///< out of kAll, on average
  uint64_t first_group = 0;  ///< of the whole array that these elements are a part of
  /// Where the last dimension has columns first_column .. of n_column alone; 0: all of them.
  int64_t n_column = 0, first_column = 0;
  /// Two words, the low one first, that are read in place of random.stream; or null.
  const int32_t* stream = nullptr;

  /// n_dropped for a share from 0 to below 1.
  static uint32_t dropped_of(double p) {
    return std::min(static_cast<uint32_t>(std::lround(p * kAll)), kAll - 1);
  }
  /// The factor of the other elements.
  double scale() const { return static_cast<double>(kAll) / (kAll - n_dropped); }
  /// Bits of the elements group * kGroup and those after it.
  FARFIELD_HD PhiloxBlock bits(int64_t group) const {
    return philox(random.seed, stream == nullptr ? random.stream : join(stream[0], stream[1]),
                  first_group + static_cast<uint64_t>(group));
  }
  /// Whether element i % kGroup of its group stays.
  FARFIELD_HD bool keeps(const PhiloxBlock& bits, int i) const {
    return (bits[i / 2] >> 16 * (i % 2) & 0xffffu) >= n_dropped;
  }

 private:
  FARFIELD_HD static uint64_t join(int32_t low, int32_t high) {
    return static_cast<uint32_t>(low) | uint64_t{static_cast<uint32_t>(high)} << 32;
  }
};

/// ShapeError, DTypeError and DeviceError unless a mask's stream is undefined or int32 [2] there.
inline void check_stream(std::string_view where, const Tensor& stream, const Device& device) {
  if (!stream.defined()) return;
  require<DTypeError>(stream.dtype() == DType::i32, where, "expected a stream in int32, got ",
                      stream.dtype());
  require<ShapeError>(stream.shape() == Shape{2}, where, "expected a stream of two words, got ",
                      stream.shape());
  require<DeviceError>(stream.device() == device, where, "expected a stream on ", device,
                       ", got one on ", stream.device());
}

/// y = x scale() where the mask keeps, else 0, whatever x is there. Also the way back, from dy.
void dropout(Cpu, const DropoutMask& mask, const Tensor& x, Tensor& y);
void dropout(Cuda, const DropoutMask& mask, const Tensor& x, Tensor& y);

}  // namespace farfield
