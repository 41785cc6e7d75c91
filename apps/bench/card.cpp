#include "apps/bench/card.h"

#include "apps/bench/report.h"
#include "apps/train/peak.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/device_info.h"
#include "engine/gemm.h"

namespace farfield::bench {
namespace {

struct Card {
  const char* name;  // a part of the card's name; longer names first
  double bf16, f32;  // TFLOP/s: tensor cores without sparsity; float32 units
};

// NVIDIA's data sheets; the SXM form if there are several forms.
constexpr Card kCards[] = {
    {"H100 PCIe", 756, 51}, {"H100 NVL", 835, 60}, {"H200 NVL", 835, 60}, {"H100", 989.4, 67},
    {"H200", 989.4, 67},    {"GH200", 989.4, 67},  {"B200", 2250, 75},    {"A100", 312, 19.5},
    {"A800", 312, 19.5},    {"A40", 149.7, 37.4},  {"A30", 165, 10.3},    {"A10", 125, 31.2},
    {"L40S", 362, 91.6},    {"L40", 181, 90.5},    {"L4", 121, 30.3},     {"RTX 4090", 165.2, 82.6},
    {"RTX 3090", 71, 35.6},
};

}  // namespace

cli::Cell Peak::share(double rate_gflops) const {
  return gflops > 0 ? percent(rate_gflops / gflops) : cli::Cell::missing("");
}

double card_tflops(const std::string& name, DType dtype) {
  for (const Card& card : kCards)
    if (name.find(card.name) != std::string::npos)
      return dtype == DType::bf16 ? card.bf16 : card.f32;
  return 0;
}

Peak peak_of(const Device& device, DType dtype, double given_tflops) {
  if (device.kind == Device::Kind::cpu) {
    const bool pairs = dtype == DType::bf16 && gemm_multiplies_pairs();
    const double peak = pairs ? train::bf16_pair_peak_gflops() : train::fma_peak_gflops();
    return {peak, concat(thread_count(), thread_count() == 1 ? " thread, " : " threads, ",
                         gemm_library(dtype), pairs ? ", VDPBF16PS peak " : ", float32 FMA peak ",
                         fixed(peak, 0), " GFLOP/s")};
  }
  const DeviceInfo info = device_info(device);
  const double tflops = given_tflops > 0 ? given_tflops : card_tflops(info.name, dtype);
  return {1e3 * tflops, concat(info.name, " (sm_", info.major, info.minor, ", ",
                               info.total_bytes / (int64_t{1} << 30), " GiB), cuBLASLt, ",
                               tflops > 0 ? concat(dtype, " peak ", fixed(tflops, 1), " TFLOP/s")
                                          : "peak not known: give it by --peak-tflops")};
}

}  // namespace farfield::bench
