#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_xpos)  // ctest: on_cuda
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

Rotation rotation_of(std::string_view expression, int64_t head_dim, int64_t n,
                     DType dtype = DType::f64) {
  const Config config{.head_dim = head_dim, .d_model = head_dim, .dtype = dtype};
  return Composition(expression, config).plan(n, n, Phase::eval).layers[0].rotation;
}

// x at position m, turned and scaled as split_heads says.
std::vector<double> turned(const Rotation& rotation, const Tensor& scales,
                           const std::vector<double>& x, size_t m) {
  const auto cos = rotation.cos.to_vector(), sin = rotation.sin.to_vector();
  const auto scale = scales.to_vector();
  const auto n_pair = static_cast<size_t>(rotation.cos.dim(1));
  std::vector<double> y = x;
  for (size_t i = 0; i < n_pair; ++i) {
    const size_t a = rotation.interleaved ? 2 * i : i;
    const size_t b = rotation.interleaved ? 2 * i + 1 : i + n_pair;
    const size_t at = m * n_pair + i;
    y[a] = scale[at] * (x[a] * cos[at] - x[b] * sin[at]);
    y[b] = scale[at] * (x[a] * sin[at] + x[b] * cos[at]);
  }
  return y;
}
double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

BOOST_AUTO_TEST_CASE(factors_equal_the_golden_ones_in_both_precisions) {
  const auto& file = golden("xpos.json");
  const int64_t length = file["length"].get<int64_t>();
  const std::vector<double> want = golden_numbers(file["q_scale_by_position"]);
  std::vector<double> reciprocal;
  for (const double x : want) reciprocal.push_back(1 / x);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Rotation rotation = rotation_of("xpos", 16, length, dtype);
    BOOST_TEST(rotation.interleaved);
    BOOST_TEST(all_close(rotation.scale_q.to_vector(), want, table_tolerance(dtype)));
    BOOST_TEST(all_close(rotation.scale_k.to_vector(), reciprocal, table_tolerance(dtype)));
  }
}

BOOST_AUTO_TEST_CASE(vectors_and_products_equal_the_golden_ones) {
  const auto& file = golden("xpos.json");
  const auto q = golden_numbers(file["q"]), k = golden_numbers(file["k"]);
  for (const auto& c : file["cases"]) {
    const Rotation rotation =
        rotation_of(concat("xpos(layout=", c["layout"].get<std::string>(), ')'), 16, 12);
    const auto q_out = turned(rotation, rotation.scale_q, q, c["m"].get<size_t>());
    const auto k_out = turned(rotation, rotation.scale_k, k, c["n"].get<size_t>());
    BOOST_TEST(all_close(q_out, golden_numbers(c["q_out"]), table_tolerance(DType::f64)));
    BOOST_TEST(all_close(k_out, golden_numbers(c["k_out"]), table_tolerance(DType::f64)));
    BOOST_TEST(std::abs(product(q_out, k_out) - c["dot"].get<double>()) < 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(pairs_decay_with_the_distance_as_the_golden_ones) {
  const Rotation rotation = rotation_of("xpos", 16, 2100);
  const auto scale_q = rotation.scale_q.to_vector(), scale_k = rotation.scale_k.to_vector();
  for (const auto& entry : golden("xpos.json")["relative_decay"]) {
    const auto d = entry["d"].get<size_t>();
    std::vector<double> decay;
    for (size_t i = 0; i < 8; ++i) decay.push_back(scale_q[(50 + d) * 8 + i] * scale_k[50 * 8 + i]);
    BOOST_TEST(all_close(decay, golden_numbers(entry["zeta_pow_d_over_B"]), Tolerance(0, 1e-12)));
  }
}

BOOST_AUTO_TEST_CASE(products_depend_on_the_distance_alone_wherever_the_centre_is) {
  const std::vector<double> q = {0.3, -1.2, 0.8, 0.5}, k = {-0.7, 0.1, 1.1, 0.9};
  const auto at = [&](const char* expression, size_t m, size_t n) {
    const Rotation rotation = rotation_of(expression, 4, 300);
    return product(turned(rotation, rotation.scale_q, q, m),
                   turned(rotation, rotation.scale_k, k, n));
  };
  const double want = at("xpos(scale_base=32)", 9, 2);
  BOOST_TEST(std::abs(at("xpos(scale_base=32)", 299, 292) - want) < 1e-12);
  BOOST_TEST(std::abs(at("xpos(scale_base=32, centre=0)", 107, 100) - want) < 1e-12);
  BOOST_TEST(std::abs(at("xpos(scale_base=32, centre=70.5)", 107, 100) - want) < 1e-12);
  BOOST_TEST(std::abs(at("xpos(scale_base=32)", 10, 2) - want) > 1e-3);
}

BOOST_AUTO_TEST_CASE(the_angles_are_those_of_rope) {
  const Rotation xpos = rotation_of("xpos(layout=half, rotary_pct=0.5)", 8, 20);
  const Rotation rope = rotation_of("rope(rotary_pct=0.5)", 8, 20);
  BOOST_TEST(same_bits(xpos.cos, rope.cos));
  BOOST_TEST(same_bits(xpos.sin, rope.sin));
}

BOOST_AUTO_TEST_CASE(factors_that_float32_cannot_hold_are_refused) {
  BOOST_TEST(error_of([] { rotation_of("xpos(scale_base=4)", 16, 1024); }) ==
             "[posenc] expected factors up to 1e+30 of xpos(scale_base=4), got e^160.354 for "
             "1024 tokens; float32 ends near 1e38, choose a larger scale_base");
  BOOST_TEST(error_of([] { rotation_of("xpos", 16, 16384); }) == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
