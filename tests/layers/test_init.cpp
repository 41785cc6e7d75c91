#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/parallel.h"
#include "layers/init.h"
#include "layers/transformer.h"
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

BOOST_AUTO_TEST_CASE(uniform_fills_its_range) {
  const int64_t n = 200'000;
  const std::vector<double> x = Initializer{.seed = 1}.uniform("w", {n}, 0.02).to_vector();
  double mean = 0, square = 0, low = 0, high = 0;
  for (const double v : x) {
    mean += v / static_cast<double>(n);
    square += v * v / static_cast<double>(n);
    low = std::min(low, v);
    high = std::max(high, v);
  }
  BOOST_TEST(std::abs(mean) < 5 * 0.02 / std::sqrt(3.0 * n));
  BOOST_TEST(std::abs(3 * square / (0.02 * 0.02) - 1) < 5 * std::sqrt(0.8 / n));
  BOOST_TEST(low >= -0.02f);
  BOOST_TEST(high <= 0.02f);
  BOOST_TEST(high - low > 0.0399);
}

// The table of init.h.
BOOST_AUTO_TEST_CASE(the_fairseq_scheme_has_its_widths) {
  const int64_t d = 64, d_ff = 256;
  const Transformer model({.n_layer = 1,
                           .n_head = 2,
                           .d_model = d,
                           .d_ff = d_ff,
                           .vocab_size = 500,
                           .init = InitScheme::fairseq},
                          1);
  const auto check = [&](const std::string& name, double std, double bound) {
    for (const Parameter& p : model.parameters()) {
      if (p.name != name) continue;
      double square = 0, largest = 0;
      const std::vector<double> values = p.value.to_vector();
      for (const double v : values) {
        square += v * v / static_cast<double>(values.size());
        largest = std::max(largest, std::abs(v));
      }
      const double error = std::sqrt(2.0 / static_cast<double>(values.size()));
      BOOST_TEST(std::abs(square - std * std) <= 5 * error * std * std, name);
      if (bound >= 0) BOOST_TEST(largest <= bound * (1 + 1e-6), name);
      return;
    }
    BOOST_ERROR("no parameter " << name);
  };
  const auto uniform = [&](const std::string& name, double bound) {
    check("gpt_neox.layers.0." + name, bound / std::sqrt(3.0), bound);
  };
  uniform("attention.query_key_value.weight", std::sqrt(6.0 / (2 * d)) / std::sqrt(2.0));
  uniform("attention.query_key_value.bias", 1 / 8.0);
  uniform("attention.dense.weight", std::sqrt(6.0 / (2 * d)));
  uniform("attention.dense.bias", 0);
  uniform("mlp.dense_h_to_4h.weight", 1 / 8.0);
  uniform("mlp.dense_h_to_4h.bias", 1 / 8.0);
  uniform("mlp.dense_4h_to_h.weight", 1 / 16.0);
  uniform("mlp.dense_4h_to_h.bias", 1 / 16.0);
  check("gpt_neox.embed_in.weight", 1 / 8.0, -1);
  check("embed_out.weight", 1 / 8.0, -1);
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
