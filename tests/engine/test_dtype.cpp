#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/dtype.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_dtype)  // ctest: arm64
namespace {

float round_trip(float x) { return static_cast<float>(BFloat16(x)); }

BOOST_AUTO_TEST_CASE(integers_round_as_in_the_golden_table) {
  const auto table = test::golden("model.json")["bf16_round"];
  const auto x = test::golden_numbers(table["x"]), y = test::golden_numbers(table["y"]);
  BOOST_TEST(x.size() == 12u);
  for (size_t i = 0; i < x.size(); ++i)
    BOOST_TEST(round_trip(static_cast<float>(x[i])) == static_cast<float>(y[i]));
}

BOOST_AUTO_TEST_CASE(every_bfloat16_survives_and_a_nan_stays_one) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    BFloat16 value;
    value.bits = static_cast<uint16_t>(bits);
    const auto wide = static_cast<float>(value);
    if (std::isnan(wide))
      BOOST_TEST(std::isnan(round_trip(wide)));
    else
      BOOST_REQUIRE(BFloat16(wide).bits == bits);
  }
  // a NaN whose upper half alone would be infinity
  BOOST_TEST(std::isnan(round_trip(std::bit_cast<float>(0x7f800001u))));
}

BOOST_AUTO_TEST_CASE(rounding_goes_to_the_nearest_and_ties_to_even) {
  BOOST_TEST(round_trip(1 + 0x1p-8f) == 1);                // a tie, down to even
  BOOST_TEST(round_trip(1 + 3 * 0x1p-8f) == 1 + 0x1p-6f);  // a tie, up to even
  BOOST_TEST(round_trip(1 + 0x1.02p-8f) == 1 + 0x1p-7f);   // just above a tie
  BOOST_TEST(round_trip(-(1 + 0x1p-8f)) == -1);
  BOOST_TEST(round_trip(std::numeric_limits<float>::max()) ==
             std::numeric_limits<float>::infinity());
  BOOST_TEST(std::signbit(round_trip(-0.0f)));
}

BOOST_AUTO_TEST_CASE(dtypes_know_their_size_name_and_accumulator) {
  BOOST_TEST(size_of(DType::f32) == 4);
  BOOST_TEST(size_of(DType::bf16) == 2);
  BOOST_TEST(size_of(DType::f64) == 8);
  BOOST_TEST(size_of(DType::i32) == 4);
  BOOST_TEST(concat(DType::f32, ' ', DType::bf16, ' ', DType::f64, ' ', DType::i32) ==
             "float32 bfloat16 float64 int32");
  BOOST_TEST((accumulate_dtype(DType::bf16) == DType::f32));
  BOOST_TEST((accumulate_dtype(DType::f64) == DType::f64));
  BOOST_TEST(!is_float(DType::i32));
}

BOOST_AUTO_TEST_CASE(dispatch_reaches_each_floating_type_and_refuses_int32) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    BOOST_TEST((dispatch_float(dtype, [](auto x) { return dtype_of<decltype(x)>; }) == dtype));
  BOOST_CHECK_EXCEPTION(dispatch_float(DType::i32, [](auto) {}), DTypeError,
                        says_exactly("[dtype] expected a floating type, got int32"));
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32})
    BOOST_TEST((dispatch_any(dtype, [](auto x) { return dtype_of<decltype(x)>; }) == dtype));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
