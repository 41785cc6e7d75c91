#include "engine/cuda/pack.cuh"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/wgmma.cuh"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

constexpr int kN = 64;

struct alignas(kSwizzledAlignment) Factors {
  BFloat16 a[kN * kN], b[kN * kN], c[kN * kN];
};

// d = a b^T + a c, a from shared memory at first and from registers then.
__global__ void warpgroup_products_kernel([[maybe_unused]] const float* a,
                                          [[maybe_unused]] const float* b,
                                          [[maybe_unused]] const float* c,
                                          [[maybe_unused]] float* to) {
#ifdef FARFIELD_HAS_WGMMA
  auto& shared = *dynamic_shared<Factors>();
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kN * kN; i += 128) {
    // 16-byte piece n of a row lies at position n ^ row % 8.
    const int row = i / kN, column = i % kN;
    const int at = kN * row + ((column / 8) ^ (row % 8)) * 8 + column % 8;
    shared.a[at] = BFloat16(first_of(round_and_pack(a[i], 0)));
    shared.b[at] = BFloat16(first_of(round_and_pack(b[i], 0)));
    shared.c[at] = BFloat16(first_of(round_and_pack(c[i], 0)));
  }
  show_to_async_proxy();
  __syncthreads();
  const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  const SwizzledFactor of_a(shared.a), of_b(shared.b), of_c(shared.c);
  float d[8][4];
  hold(d);
  begin_product_group();
  begin_product<false>(d, of_a, of_b);
  for (int k = 16; k < kN; k += 16) begin_product<true>(d, of_a + k, of_b + k);
  end_product_group();
  wait_for_product_groups<0>();
  hold(d);
  uint32_t left[4][4];
  for (int k = 0; k < 4; ++k)
    for (int r = 0; r < 4; ++r) {
      const float* const pair = a + kN * (row + 8 * (r % 2)) + 16 * k + column + 8 * (r / 2);
      left[k][r] = round_and_pack(pair[0], pair[1]);
    }
  begin_product_group();
  for (int k = 0; k < 4; ++k) begin_adding_product(d, left[k], of_c + 16 * k * kN);
  end_product_group();
  wait_for_product_groups<0>();
  hold(d);
  for (int n = 0; n < 8; ++n)
    for (int i = 0; i < 4; ++i) to[kN * (row + i / 2 * 8) + 8 * n + column + i % 2] = d[n][i];
#endif
}

}  // namespace

bool has_products_of_warpgroups() {
#ifdef FARFIELD_HAS_SM90A
  cudaDeviceProp properties;
  cuda_check(cudaGetDeviceProperties(&properties, 0), "the properties of cuda:0");
  return properties.major == 9 && properties.minor == 0;
#else
  return false;
#endif
}

std::vector<float> warpgroup_products(const std::vector<float>& a, const std::vector<float>& b,
                                      const std::vector<float>& c) {
  if (!has_products_of_warpgroups()) return {};
  const DeviceArray<float> x(a), y(b), z(c), to(a.size());
  launch(warpgroup_products_kernel, 1, 128, sizeof(Factors), nullptr, x.data(), y.data(), z.data(),
         to.data());
  return to.values();
}

}  // namespace farfield::test_kernels
