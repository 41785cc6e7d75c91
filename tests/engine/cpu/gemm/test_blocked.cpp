// Products by register blocks over packed operands.
#include <boost/test/unit_test.hpp>

#include "engine/cpu/gemm/library.h"
#include "tests/engine/cpu/gemm/cases.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_blocked)  // ctest: arm64
namespace {

using namespace test;

const GemmLibrary& packing() {
  for (const GemmLibrary& library : gemm_libraries())
    if (library.packed != nullptr) return library;
  fail<BackendError>("test", "expected a library that packs, got none");
}

// Blocks with few rows and columns; whole, odd and several slices of the inner dimension.
BOOST_AUTO_TEST_CASE(blocks_at_every_edge_agree_with_plain_loops) {
  for (const int64_t m : {11, 12, 13, 25})
    for (const int64_t n : {15, 33, 40})
      for (const int64_t k : {2, 17, 64, 531})
        for (const bool accumulate : {false, true})
          check_against_loops(packing(), {m, n, k}, 1, accumulate);
}

BOOST_AUTO_TEST_CASE(panels_of_rows_and_columns_agree_with_plain_loops) {
  check_against_loops(packing(), {100, 530, 19}, 0, true);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
