// What attention does on devices that have less than the emulated one.

#include <boost/test/unit_test.hpp>

#include "tests/support/attention_problem.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/grid.h"
#include "tests/support/cuda/symbol_name.h"
#include "tests/support/messages.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_attention_limits)
namespace {

using emulation::KeepDevices;

// Compute capability 8.6 and 8.9 have 99 KiB, where the emulation has 163 KiB.
BOOST_AUTO_TEST_CASE(attention_fits_into_99_kib_or_says_what_it_wanted) {
  const KeepDevices keep;
  const Device small{Device::Kind::cuda, emulation::add_small_device()};
  const auto run_on_device = [&](DType dtype, int64_t head_dim, bool has_row_bias, bool is_far) {
    AttentionProblem p = make_problem({1, 1, 20, 40, head_dim}, dtype);
    p.add_bias();
    p.add_weight();
    if (has_row_bias) add_row_bias(p, {0.5});
    if (is_far) {
      p.add_far_heads();
      p.rule.switch_distance = 10;
    }
    run(moved_to(small, p));
  };
  const auto fits = [&](DType dtype, int64_t head_dim, bool is_far) {
    for (const bool has_row_bias : {false, true}) {
      BOOST_TEST_CHECKPOINT(dtype << ", head_dim " << head_dim << ", far " << is_far);
      BOOST_CHECK_NO_THROW(run_on_device(dtype, head_dim, has_row_bias, is_far));
    }
  };
  for (const int64_t head_dim : {32, 64, 128}) fits(DType::f32, head_dim, false);
  for (const int64_t head_dim : {32, 64, 128, 256}) fits(DType::bf16, head_dim, false);
  for (const int64_t head_dim : {32, 64}) fits(DType::f32, head_dim, true);
  for (const int64_t head_dim : {32, 64, 128, 256}) fits(DType::bf16, head_dim, true);
  BOOST_CHECK_EXCEPTION(run_on_device(DType::f32, 256, false, false), BackendError,
                        says("attention_backward_kernel", "float, 256"));
  BOOST_CHECK_EXCEPTION(
      run_on_device(DType::f32, 128, false, true), BackendError,
      says("[cuda] launch of void farfield::attention_cuda::attention_forward_kernel<float, 128",
           ": expected at most 101376 bytes of shared memory, all that a block of cuda:7 may have, "
           "got 104464; use smaller sizes, a narrower type, or the device cpu"));
}

// Without products of warpgroups there are kernels for warps; a warp of the backward passes holds
// 32 rows, or 16 where there is little shared memory.
BOOST_AUTO_TEST_CASE(devices_without_products_of_warpgroups_have_kernels_of_warps) {
  const KeepDevices keep;
  for (const int index : {emulation::add_older_device(), emulation::add_small_device()}) {
    const auto check = [&](const char* what, const Sizes& sizes, auto&& change) {
      AttentionProblem p = make_problem(sizes, DType::bf16);
      change(p);
      compare_results(p, run_on({Device::Kind::cuda, index}, p), concat(what, " on cuda:", index));
    };
    for (const int64_t head_dim : {20, 64}) {
      check("nothing", {2, 1, 150, 150, head_dim}, [](auto&) {});
      check("bias", {1, 2, 140, 300, head_dim}, [](auto& p) { p.add_bias(), p.set_window(70, 3); });
      check("weight", {1, 1, 130, 130, head_dim}, [](auto& p) { p.add_weight(); });
      check("tables", {2, 1, 100, 270, head_dim}, [](auto& p) { p.add_bias(), p.add_weight(); });
      check("row bias", {1, 2, 150, 150, head_dim}, [](auto& p) { add_row_bias(p, kKnots); });
    }
  }
}

BOOST_AUTO_TEST_CASE(heads_of_64_components_take_products_of_warpgroups) {
  const KeepDevices keep;
  const int older = emulation::add_older_device();
  const auto kernels_of = [](int device, DType dtype, int64_t head_dim) {
    const emulation::SharedBytesGiven given;
    AttentionProblem p = make_problem({1, 1, 20, 40, head_dim}, dtype);
    p.add_bias();
    run(moved_to({Device::Kind::cuda, device}, p));
    size_t n_warpgroup = 0;
    for (const auto& [kernel, bytes] : given.of_kernel)
      n_warpgroup += emulation::symbol_name(kernel).find("_warpgroup_kernel") != std::string::npos;
    return n_warpgroup;
  };
  BOOST_TEST(kernels_of(0, DType::bf16, 64) == 3u);
  BOOST_TEST(kernels_of(0, DType::bf16, 56) == 0u);
  BOOST_TEST(kernels_of(0, DType::f32, 64) == 0u);
  BOOST_TEST(kernels_of(older, DType::bf16, 64) == 0u);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
