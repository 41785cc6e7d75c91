// What attention does on a device that has less shared memory than the emulated one.

#include <boost/test/unit_test.hpp>

#include "tests/support/attention_problem.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/messages.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_attention_limits)
namespace {

using emulation::KeepDevices;

// Compute capability 8.6 and 8.9 have 99 KiB, where the emulation has the 163 KiB of 8.0.
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

// There a warp of the backward passes holds 16 rows, in kernels of their own.
BOOST_AUTO_TEST_CASE(a_device_with_little_shared_memory_has_narrower_tiles) {
  const KeepDevices keep;
  const Device small{Device::Kind::cuda, emulation::add_small_device()};
  const auto check = [&](const char* what, const Sizes& sizes, auto&& change) {
    AttentionProblem p = make_problem(sizes, DType::bf16);
    change(p);
    compare_results(p, run_on(small, p), what);
  };
  for (const int64_t head_dim : {20, 64}) {
    check("nothing", {2, 1, 150, 150, head_dim}, [](auto&) {});
    check("bias", {1, 2, 140, 200, head_dim}, [](auto& p) { p.add_bias(), p.set_window(70, 3); });
    check("weight", {1, 1, 130, 130, head_dim}, [](auto& p) { p.add_weight(); });
    check("tables", {2, 1, 100, 170, head_dim}, [](auto& p) { p.add_bias(), p.add_weight(); });
    check("row bias", {1, 2, 150, 150, head_dim}, [](auto& p) { add_row_bias(p, kKnots); });
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
