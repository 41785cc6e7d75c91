// A machine that advertises AMX and cannot use it, in a process of its own: the library of products
// is limited before its first primitive, once in a process. Run twice, the second time with a limit
// of the user's (tests/CMakeLists.txt).
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "engine/cpu/gemm/library.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_gemm_limited)  // ctest: arm64
namespace {

const GemmLibrary& limited() {
  static const GemmLibrary library = [] {
    const auto all = gemm_libraries_for({.is_x86 = true, .avx512_bf16 = true, .amx = true});
    for (const GemmLibrary& one : all)
      if (one.name.starts_with("oneDNN")) return one;
    return all.back();
  }();
  return library;
}

bool is_onednn() {
  const bool is_there = limited().name.starts_with("oneDNN");
  if (!is_there) BOOST_TEST_MESSAGE("skipped: products are by " << limited().name);
  return is_there;
}

std::string user_limit() {
  const char* const limit = std::getenv("DNNL_MAX_CPU_ISA");
  return limit != nullptr ? limit : "";
}

// Of matrices whose values bfloat16 has too.
Tensor product(DType in) {
  constexpr int64_t m = 128, n = 96, k = 64;
  const auto factor = [&](const Shape& shape, uint64_t seed) {
    return Tensor::from(random_tensor(shape, seed, -1, 1, DType::bf16).to_vector(), shape, in);
  };
  const Tensor a = factor({m, k}, 1), b = factor({k, n}, 2);
  Tensor c = Tensor::zeros({m, n});
  const Gemm p{.m = m,
               .n = n,
               .k = k,
               .a = a.raw_data(),
               .lda = k,
               .b = b.raw_data(),
               .ldb = n,
               .c = c.raw_data(),
               .ldc = n,
               .in = in};
  gemm_with(limited(), p);
  return c;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_library_is_held_below_amx) {
  if (!is_onednn()) return;
  BOOST_TEST_MESSAGE(limited().name << " uses " << limited().instruction_set);
  BOOST_TEST(limited().instruction_set.find("amx") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_limit_of_the_user_stays) {
  if (!is_onednn()) return;
  if (user_limit() != "SSE41") {
    BOOST_TEST_MESSAGE("skipped: the user sets no limit here");
    return;
  }
  BOOST_TEST(limited().instruction_set == "sse41");
}

BOOST_AUTO_TEST_CASE(products_of_bfloat16_are_widened_and_say_why) {
  BOOST_TEST(!limited().takes(DType::bf16, DType::f32));
  BOOST_TEST(!limited().takes(DType::bf16, DType::bf16));
  BOOST_TEST(limited().bf16.starts_with("widened to float32: "));
  if (is_onednn() && user_limit().empty())
    BOOST_TEST(limited().bf16.find("CPUID leaf 0x1D") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(products_of_bfloat16_are_those_of_float32) {
  const Tensor narrow = product(DType::bf16);
  BOOST_TEST(all_close(narrow.to_vector(), product(DType::f32).to_vector(),
                       tolerance(DType::f32, Work::product), narrow.shape()));
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
