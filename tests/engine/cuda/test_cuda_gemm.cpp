// Matrix products by (emulated) cuBLASLt against the CPU's.

#include <boost/test/unit_test.hpp>

#include "engine/ops/matmul.h"
#include "tests/engine/cuda/gemm_case.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_gemm)  // ctest: gpu
namespace {

constexpr std::pair<DType, DType> kTypes[] = {
    {DType::f32, DType::f32}, {DType::bf16, DType::bf16}, {DType::bf16, DType::f32}};

void agree(const GemmCase& s) {
  for (const auto& [in, out] : kTypes)
    for (const bool accumulate : {false, true}) {
      const GemmOperands operands(s, in, out, accumulate);
      const auto close = all_close(operands.result(kCuda), operands.result(Device{}),
                                   tolerance(out, Work::product));
      BOOST_CHECK_MESSAGE(close, s.m << " x " << s.k << " x " << s.n << ' ' << in << " to " << out
                                     << (accumulate ? ", accumulated: " : ": ") << close.message());
    }
}

BOOST_AUTO_TEST_CASE(products_of_all_arrangements_agree) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      agree({1, 1, 1, transpose_a, transpose_b});
      agree({5, 3, 7, transpose_a, transpose_b});
      agree({16, 40, 33, transpose_a, transpose_b});
      agree({1, 37, 64, transpose_a, transpose_b});
      agree({65, 1, 8, transpose_a, transpose_b});
    }
}

BOOST_AUTO_TEST_CASE(rows_may_be_apart) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      agree({5, 3, 7, transpose_a, transpose_b, 1, 2, 3});
      agree({8, 16, 24, transpose_a, transpose_b, 8, 16, 8});
    }
}

BOOST_AUTO_TEST_CASE(batches_agree) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      agree({4, 5, 6, transpose_a, transpose_b, 0, 0, 0, 3});
      agree({4, 5, 6, transpose_a, transpose_b, 1, 2, 3, 2, 5});
      agree({7, 1, 33, transpose_a, transpose_b, 0, 0, 0, 2, 1});
    }
}

BOOST_AUTO_TEST_CASE(empty_sizes_do_as_on_the_cpu) {
  for (const int64_t n_batch : {0, 1, 2}) {
    agree({0, 3, 4, false, false, 0, 0, 0, n_batch});
    agree({3, 0, 4, false, false, 0, 0, 0, n_batch});
    agree({3, 5, 0, false, false, 0, 0, 2, n_batch, 1});  // C is cleared, but for the gaps
    agree({0, 0, 0, false, false, 0, 0, 0, n_batch});
  }
}

BOOST_AUTO_TEST_CASE(a_long_batch_agrees) { agree({1, 2, 1, false, false, 0, 0, 0, 65537}); }

// Long sums of few results, which a library might cut among blocks that add in any order.
BOOST_AUTO_TEST_CASE(repeated_products_have_the_same_bits) {
  for (const auto& [in, out] : kTypes)
    for (const GemmCase& s : {GemmCase{48, 40, 2000, true, false}, {48, 40, 2000, false, true}}) {
      const GemmOperands operands(s, in, out, /*accumulate=*/true);
      const Tensor first = operands.result(kCuda);
      for (int i = 0; i < 3; ++i)
        BOOST_TEST(same_bits(operands.result(kCuda), first), in << " to " << out);
    }
}

BOOST_AUTO_TEST_CASE(operands_may_begin_anywhere) {
  for (const auto& [in, out] : kTypes)
    for (const int64_t offset : {1, 2, 4, 8}) {
      const Tensor x = random_tensor({200}, 4, -1, 1, in);
      const auto result = [&, &to = out, &from = in](const Device& device) {
        const Tensor there = x.to(device);
        Tensor c = Tensor::zeros({40}, to, device);
        Gemm p{.m = 4,
               .n = 8,
               .k = 8,
               .a = there.view({1}, offset).raw_data(),
               .lda = 8,
               .b = there.view({1}, 2 * offset + 40).raw_data(),
               .ldb = 8,
               .c = c.view({1}, offset).raw_data(),
               .ldc = 8,
               .in = from,
               .out = to};
        dispatch(device, [&](auto tag) { gemm(tag, p); });
        return c.to(Device{});
      };
      BOOST_TEST(all_close(result(kCuda), result(Device{}), tolerance(out, Work::product)));
    }
}

BOOST_AUTO_TEST_CASE(matmul_and_its_gradients_agree) {
  const std::pair<Shape, Shape> shapes[] = {
      {{3, 4}, {4, 5}}, {{33, 17}, {17, 40}}, {{2, 3, 5}, {2, 5, 7}}, {{2, 3, 8, 6}, {2, 3, 6, 4}},
      {{3, 0}, {0, 5}}, {{0, 4}, {4, 5}},     {{0, 3, 4}, {0, 4, 2}}};
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const auto& [a, b] : shapes)
      devices_agree(concat(dtype, ' ', a, ' ', b),
                    {random_tensor(a, 6, -1, 1, dtype), random_tensor(b, 7, -1, 1, dtype)},
                    Work::product,
                    [](const std::vector<Tensor>& in) { return matmul(in[0], in[1]); });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
