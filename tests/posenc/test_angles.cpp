#include <boost/test/unit_test.hpp>
#include <set>

#include "posenc/angles.h"
#include "tests/support/all_close.h"
#include "tests/support/golden.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_angles)
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

BOOST_AUTO_TEST_CASE(frequencies_equal_the_golden_ones) {
  const auto rope = golden("rope.json");
  BOOST_TEST(all_close(Angles(64, 10000).inv_freq(), golden_numbers(rope["inv_freq"]),
                       Tolerance(0, 1e-14)));
  BOOST_TEST(all_close(Angles(rope["partial"]["rotary_dims"].get<int64_t>(), 10000).inv_freq(),
                       golden_numbers(rope["partial"]["inv_freq"]), Tolerance(0, 1e-14)));
}

BOOST_AUTO_TEST_CASE(emulated_bfloat16_angles_equal_the_golden_ones) {
  const auto& want = golden("rope.json")["bf16_angle_emulation"];
  const Angles bf16(64, 10000, true), exact(64, 10000);
  BOOST_TEST(all_close(bf16.inv_freq(), golden_numbers(want["inv_freq_bf16"]), Tolerance(0)));
  std::vector<double> angles, errors;
  for (const double position : golden_numbers(want["positions"]))
    for (size_t i = 0; i < 4; ++i) {
      angles.push_back(bf16(position, i));
      errors.push_back(std::abs(bf16(position, i) - exact(position, i)));
    }
  BOOST_TEST(all_close(angles, golden_numbers(want["angle_bf16_first4"]), Tolerance(0)));
  BOOST_TEST(all_close(errors, golden_numbers(want["abs_angle_error_first4"]), Tolerance(1e-11)));
}

BOOST_AUTO_TEST_CASE(in_bfloat16_positions_merge_and_in_float64_they_do_not) {
  const Angles bf16(64, 10000, true), exact(64, 10000);
  std::set<double> merged, distinct;
  for (int position = 0; position < 512; ++position) {
    merged.insert(bf16(position, 0));
    distinct.insert(exact(position, 0));
  }
  BOOST_TEST(merged.size() == 385u);
  BOOST_TEST(distinct.size() == 512u);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
