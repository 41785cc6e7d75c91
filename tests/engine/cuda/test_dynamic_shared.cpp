// The shared memory that launches of attention, of long rows and of norms give, as
// tests/static_costs keeps it for its table.

#include <boost/test/unit_test.hpp>

#include "engine/base/file.h"
#include "engine/dispatch.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/norm.h"
#include "engine/ops/softmax.h"
#include "tests/static_costs/dynamic_shared.h"
#include "tests/static_costs/reports.h"
#include "tests/support/attention_problem.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/grid.h"
#include "tests/support/cuda/symbol_name.h"
#include "tests/support/source_dir.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_dynamic_shared)
namespace {

// Each part of a launch's shared memory with and without, in each kernel for a device.
void run_attention(const Device& device, const std::vector<DType>& dtypes,
                   const std::vector<int64_t>& head_dims) {
  for (const DType dtype : dtypes)
    for (const int64_t head_dim : head_dims)
      for (const double dropout : {0.0, 0.5})
        for (const int tables : {0, 1, 2, 3})  // which are learned, in kernels of their own
          for (const bool has_row_bias : {false, true})
            for (const bool is_far : {false, true}) {
              AttentionProblem p = make_problem({1, 1, 4, 4, head_dim}, dtype);
              if (tables % 2 == 1) p.add_bias();
              if (tables / 2 == 1) p.add_weight();
              if (has_row_bias) add_row_bias(p, {0.5});
              if (is_far) {
                p.add_far_heads();
                p.rule.switch_distance = 2;
              }
              p.rule.dropout = {.p = dropout, .random = {3, 5}};
              run(moved_to(device, p));
              if (dropout > 0 || has_row_bias || is_far) continue;
              p.add_row_scale();
              run(moved_to(device, p));
            }
}

// The shortest and the longest rows that are kept in shared memory, in whole pieces and not.
void run_rows() {
  const NoGrad no_grad;
  constexpr Device kCuda{Device::Kind::cuda, 0};
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const int64_t most = ((int64_t{163} << 10) - 128) / static_cast<int64_t>(size_of(dtype));
    for (const int64_t n : {int64_t{8200}, int64_t{8193}, most, most - 1}) {
      const Tensor x = Tensor::zeros({1, n}, dtype, kCuda),
                   targets = Tensor::zeros({1}, DType::i32, kCuda);
      softmax(x);
      Tensor nll = Tensor::empty({1}, DType::f32, kCuda);
      for (const DType gradient : {DType::bf16, DType::f32}) {
        Tensor dlogits = Tensor::empty({1, n}, gradient, kCuda);
        cross_entropy_rows(cuda_tag(kCuda), x, targets, 1, nll, dlogits);
      }
    }
  }
}

// Of each RowSize, in whole pieces and not, with sums of columns and without.
void run_norms() {
  constexpr Device kCuda{Device::Kind::cuda, 0};
  for (const DType dtype : {DType::bf16, DType::f32})
    for (const int64_t d : {256, 768, 2048, 8192, 16384, 255, 767, 2047, 8191, 16383})
      for (const bool sums_columns : {false, true}) {
        const Tensor x = Tensor::zeros({1, d}, dtype, kCuda),
                     one = Tensor::full({d}, 1, DType::f32, kCuda),
                     of_row = Tensor::zeros({1}, DType::f32, kCuda);
        Tensor dx = empty_like(x), dweight = empty_like(one), dbias = empty_like(one),
               column_sums = sums_columns ? empty_like(one) : Tensor();
        layer_norm_backward(cuda_tag(kCuda), x, one, of_row, of_row, x, {}, dx, dweight, dbias,
                            column_sums);
      }
}

BOOST_AUTO_TEST_CASE(what_launches_give_is_what_the_static_costs_take) {
  const emulation::SharedBytesGiven given;
  const emulation::KeepDevices keep;
  run_attention({Device::Kind::cuda, 0}, {DType::bf16, DType::f32}, {32, 64, 128, 256});
  for (const int index : {emulation::add_older_device(), emulation::add_small_device()})
    run_attention({Device::Kind::cuda, index}, {DType::bf16}, {32, 64, 128});
  run_rows();
  run_norms();
  static_costs::DynamicShared found;
  for (const auto& [kernel, bytes] : given.of_kernel)
    if (bytes.second > 0)
      found[static_costs::short_name(emulation::symbol_name(kernel))] = {
          static_cast<int64_t>(bytes.first), static_cast<int64_t>(bytes.second)};
  BOOST_TEST(found.size() > 40u);
  const auto path = (source_dir() / "tests/static_costs/dynamic_shared.csv").string();
  const std::string text = static_costs::to_csv(found);
  BOOST_TEST((read_file(path) == text), path << " should be\n" << text);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
