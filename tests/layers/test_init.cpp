#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/parallel.h"
#include "layers/init.h"
#include "tests/support/golden.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_init)  // ctest: on_cuda
namespace {

BOOST_AUTO_TEST_CASE(normal_has_the_mean_and_width_asked_for) {
  const int64_t n = 200'000;
  const std::vector<double> x = Initializer{.seed = 1}.normal("w", {n}, 0.02).to_vector();
  double mean = 0, square = 0, fourth = 0;
  for (const double v : x) {
    mean += v / static_cast<double>(n);
    square += v * v / static_cast<double>(n);
    fourth += v * v * v * v / static_cast<double>(n);
  }
  // Five standard errors of each.
  BOOST_TEST(std::abs(mean) < 5 * 0.02 / std::sqrt(n));
  BOOST_TEST(std::abs(square / (0.02 * 0.02) - 1) < 5 * std::sqrt(2.0 / n));
  BOOST_TEST(std::abs(fourth / (square * square) - 3) < 5 * std::sqrt(96.0 / n));
}

BOOST_AUTO_TEST_CASE(values_depend_on_seed_and_name_alone) {
  const auto draw = [](uint64_t seed, const char* name, int threads) {
    set_thread_count(threads);
    return Initializer{.seed = seed}.normal(name, {10'000}, 1).to_vector();
  };
  const std::vector<double> x = draw(1, "a", 1);
  BOOST_TEST((draw(1, "a", 3) == x));
  BOOST_TEST((draw(1, "b", 1) != x));
  BOOST_TEST((draw(2, "a", 1) != x));
}

BOOST_AUTO_TEST_CASE(float64_starts_from_the_same_values_as_float32) {
  const auto draw = [](DType dtype) {
    return Initializer{.seed = 3, .dtype = dtype}.normal("w", {100}, 0.02).to_vector();
  };
  BOOST_TEST(draw(DType::f32) == draw(DType::f64));
}

BOOST_AUTO_TEST_CASE(initial_values_are_leaves_that_want_gradients) {
  const Initializer init{.seed = 1};
  BOOST_TEST(init.normal("w", {2, 3}, 1).requires_grad());
  const Tensor ones = init.constant({4}, 1);
  BOOST_TEST(ones.requires_grad());
  BOOST_TEST(ones.to_vector() == std::vector<double>(4, 1));
}

BOOST_AUTO_TEST_CASE(the_width_of_residual_writers_is_the_golden_one) {
  const auto widths = test::golden("model.json")["init_std"];
  for (const auto& [name, n_layer] : {std::pair{"162M", 12}, std::pair{"1.3B", 24}})
    BOOST_TEST(std::abs(scaled_std(0.02, n_layer) - widths[name]["scaled_normal"].get<double>()) <
               1e-17);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
