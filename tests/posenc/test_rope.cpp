#include <boost/test/unit_test.hpp>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_rope)  // ctest: on_cuda arm64
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

Config model_of_width(int64_t head_dim, DType dtype = DType::f64) {
  return {.head_dim = head_dim, .d_model = head_dim, .dtype = dtype};
}
Rotation rotation_of(std::string_view expression, int64_t head_dim, int64_t n,
                     DType dtype = DType::f64) {
  return Composition(expression, model_of_width(head_dim, dtype))
      .plan(n, n, Phase::eval)
      .layers[0]
      .rotation;
}

// x turned as position m says, written out from the definition.
std::vector<double> rotated(const Rotation& rotation, const std::vector<double>& x, size_t m) {
  const std::vector<double> cos = rotation.cos.to_vector(), sin = rotation.sin.to_vector();
  const auto n_pair = static_cast<size_t>(rotation.cos.dim(1));
  std::vector<double> y = x;
  for (size_t i = 0; i < n_pair; ++i) {
    const size_t a = rotation.interleaved ? 2 * i : i;
    const size_t b = rotation.interleaved ? 2 * i + 1 : i + n_pair;
    const double c = cos[m * n_pair + i], s = sin[m * n_pair + i];
    y[a] = x[a] * c - x[b] * s;
    y[b] = x[a] * s + x[b] * c;
  }
  return y;
}
double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

BOOST_AUTO_TEST_CASE(cos_and_sin_equal_the_golden_tables_in_both_precisions) {
  const auto& file = golden("rope.json");
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Rotation rotation = rotation_of("rope", 64, 8192, dtype);
    BOOST_TEST((rotation.cos.shape() == Shape{8192, 32}));
    for (const auto& [position, entry] : file["tables"].items()) {
      const int64_t row = 32 * std::stoll(position);
      BOOST_TEST(all_close(rotation.cos.view({32}, row).to_vector(), golden_numbers(entry["cos"]),
                           table_tolerance(dtype)));
      BOOST_TEST(all_close(rotation.sin.view({32}, row).to_vector(), golden_numbers(entry["sin"]),
                           table_tolerance(dtype)));
    }
  }
}

BOOST_AUTO_TEST_CASE(rotated_vectors_and_products_equal_the_golden_ones) {
  const auto& file = golden("rope.json")["vectors"];
  const std::vector<double> q = golden_numbers(file["q"]), k = golden_numbers(file["k"]);
  for (const auto& c : file["cases"]) {
    const double pct = c["rotary_dims"].get<double>() / 16;
    const Rotation rotation = rotation_of(
        concat("rope(layout=", c["layout"].get<std::string>(), ", rotary_pct=", pct, ')'), 16,
        2048);
    const auto q_rot = rotated(rotation, q, c["m"].get<size_t>());
    const auto k_rot = rotated(rotation, k, c["n"].get<size_t>());
    BOOST_TEST(all_close(q_rot, golden_numbers(c["q_rot"]), table_tolerance(DType::f64)));
    BOOST_TEST(all_close(k_rot, golden_numbers(c["k_rot"]), table_tolerance(DType::f64)));
    BOOST_TEST(std::abs(product(q_rot, k_rot) - c["dot"].get<double>()) < 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(scores_depend_on_the_distance_alone) {
  const std::vector<double> q = {0.3, -1.2, 0.8, 0.5}, k = {-0.7, 0.1, 1.1, 0.9};
  for (const char* layout : {"half", "interleaved"}) {
    const Rotation rotation = rotation_of(concat("rope(layout=", layout, ')'), 4, 600);
    const double near_start = product(rotated(rotation, q, 9), rotated(rotation, k, 2));
    const double far_away = product(rotated(rotation, q, 599), rotated(rotation, k, 592));
    BOOST_TEST(std::abs(near_start - far_away) < 1e-12);
    const double other = product(rotated(rotation, q, 599), rotated(rotation, k, 591));
    BOOST_TEST(std::abs(near_start - other) > 1e-3);
  }
}

BOOST_AUTO_TEST_CASE(cached_keys_are_followed_by_queries_with_their_own_positions) {
  const Composition rope("rope", model_of_width(8));
  const Rotation all = rope.plan(10, 10, Phase::eval).layers[0].rotation;
  const Rotation last = rope.plan(3, 10, Phase::eval).layers[0].rotation;
  BOOST_TEST(same_bits(last.cos, all.cos.view({3, 4}, 28)));
}

BOOST_AUTO_TEST_CASE(bfloat16_angles_are_those_of_the_published_baselines) {
  const auto& want = golden("rope.json")["bf16_angle_emulation"];
  const Rotation rotation = rotation_of("rope(angle_dtype=bf16)", 64, 8192);
  const std::vector<double> positions = golden_numbers(want["positions"]);
  for (size_t row = 0; row < positions.size(); ++row)
    for (size_t i = 0; i < 4; ++i) {
      const double angle = want["angle_bf16_first4"][row][i].get<double>();
      const auto entry = static_cast<size_t>(positions[row]) * 32 + i;
      BOOST_TEST(rotation.cos.to_vector()[entry] == std::cos(angle));
    }
}

BOOST_AUTO_TEST_CASE(a_rotary_width_that_is_odd_or_empty_is_refused) {
  BOOST_TEST(
      error_of_expression("rope", model_of_width(33)) ==
      "[posenc] rope(rotary_pct): expected an even number of rotated components, at least 2, "
      "got 33 (head_dim 33 x rotary_pct 1) at column 1\n  rope\n  ^");
  BOOST_TEST(
      error_of_expression("rope(rotary_pct=0.1)", model_of_width(16)) ==
      "[posenc] rope(rotary_pct): expected an even number of rotated components, at least 2, "
      "got 1 (head_dim 16 x rotary_pct 0.1) at column 17\n"
      "  rope(rotary_pct=0.1)\n"
      "                  ^");
  BOOST_TEST(error_of_expression("rope(rotary_pct=1.5)", model_of_width(16))
                 .find("expected a number > 0 and <= 1, got 1.5") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
