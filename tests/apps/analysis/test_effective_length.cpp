#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "apps/analysis/effective_length.h"
#include "engine/base/error.h"
#include "posenc/composition.h"
#include "posenc/slopes.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_effective_length)
namespace {

// By the formula of an encoding whose parameters have these values in its one head.
Reach length_by_formula(const std::string& encoding, const std::vector<double>& values) {
  posenc::Composition one(encoding, {.dtype = DType::f64});
  const std::vector<Parameter> parameters = one.parameters();
  for (size_t i = 0; i < values.size(); ++i)
    parameters.at(i).value.detach().assign(Tensor::from({values[i]}, {1}, DType::f64));
  const posenc::Decay decay = one.decays(0, 0).at(0);
  return crossing_near(decay.distance(2), decay.bias);
}
Reach alibi_length(double slope) {
  const posenc::Decay decay = posenc::linear_decay(slope);
  return crossing_near(decay.distance(2), decay.bias);
}
Reach power_length(double r1, double r2) { return length_by_formula("kerple_power", {r1, r2}); }
Reach log_length(double r1, double r2) { return length_by_formula("kerple_log", {r1, r2}); }
Reach log3_length(double r1, double r2, double r3) {
  return length_by_formula("kerple_log3", {r1, r2, r3});
}

const nlohmann::json& entry(std::string_view name) {
  return test::golden("tables_h12.json")["encodings"][name];
}
double parameter(const std::string& name, const std::string& which, size_t head) {
  return entry(name)["params"][which][head];
}

// Golden lengths of a row, against what `length` says of each head.
void check_golden(const std::string& name, const std::function<Reach(size_t)>& length) {
  const auto& want = entry(name)["effective_length"];
  for (size_t head = 0; head < want.size(); ++head) BOOST_TEST_CONTEXT(name << ", head " << head) {
      const Reach got = length(head);
      BOOST_TEST(got.has_value() == !want[head].is_null());
      if (got && !want[head].is_null()) BOOST_TEST(*got == want[head].get<int64_t>());
    }
}

Reach by_table(const std::function<double(double)>& kernel) {
  return effective_length([&](int64_t d) { return kernel(static_cast<double>(d)); }).length;
}

BOOST_AUTO_TEST_CASE(alibi_of_twelve_heads) {
  const std::vector<int64_t> want{4, 6, 9, 13, 21, 33, 51, 81, 129, 204, 323, 513};
  std::vector<Reach> lengths;
  for (int h = 1; h <= 12; ++h) {
    const double slope = std::exp2(-8.0 * h / 12);
    lengths.push_back(alibi_length(slope));
    BOOST_TEST(lengths.back().value() == want[static_cast<size_t>(h - 1)]);
    BOOST_TEST(by_table([=](double d) { return -slope * d; }).value() ==
               want[static_cast<size_t>(h - 1)]);
  }
  const std::vector<int64_t> curve = head_count_curve(lengths);
  BOOST_TEST(curve.size() == 20481);
  BOOST_TEST(curve[512] == 11);
  BOOST_TEST(curve[513] == 12);
  BOOST_TEST(curve[20480] == 12);
}

BOOST_AUTO_TEST_CASE(the_threshold_is_strict) {
  // 2 / slope is a whole number: there k is -2, which is not below -2.
  BOOST_TEST(alibi_length(0.25).value() == 9);
  BOOST_TEST(alibi_length(2).value() == 2);
  BOOST_TEST(alibi_length(2.0001).value() == 1);
  BOOST_TEST(by_table([](double d) { return -0.25 * d; }).value() == 9);
}

BOOST_AUTO_TEST_CASE(closed_forms_agree_with_golden_tables) {
  const auto length_of = [](const std::string& name) {
    return [name](size_t h) -> Reach {
      const double r1 = parameter(name, "r1", h), r2 = parameter(name, "r2", h);
      if (name == "kerple_log") return log_length(r1, r2);
      if (name == "kerple_power") return power_length(r1, r2);
      return log3_length(r1, r2, parameter(name, "r3", h));
    };
  };
  for (const std::string name : {"kerple_log", "kerple_power", "kerple_log3"})
    check_golden(name, length_of(name));
  check_golden("alibi_learned", [](size_t h) {  // learned are logarithms of slopes
    return alibi_length(std::exp(parameter("alibi_learned", "theta", h)));
  });
}

BOOST_AUTO_TEST_CASE(the_general_rule_agrees_with_golden_tables) {
  check_golden("kerple_log", [](size_t h) {
    const double r1 = parameter("kerple_log", "r1", h), r2 = parameter("kerple_log", "r2", h);
    return by_table([=](double d) { return -r1 * std::log(1 + r2 * d); });
  });
  check_golden("sandwich_128", [](size_t h) {
    return by_table([=](double d) {
      double sum = -64;
      for (int i = 0; i < 64; ++i) sum += std::cos(d * std::pow(1e4, -i / 64.0));
      return sum * 12 / (8.0 * static_cast<double>(h + 1));
    });
  });
}

BOOST_AUTO_TEST_CASE(closed_forms_and_the_general_rule_agree_at_every_scale) {
  for (const double r1 : {0.01, 0.2, 0.7, 1.0, 1.9, 2.0, 30.0})
    for (const double r2 : {0.01, 0.3, 1.0, 1.7, 2.0}) {
      BOOST_TEST_CONTEXT("r1 " << r1 << ", r2 " << r2) {
        BOOST_TEST((alibi_length(r1) == by_table([=](double d) { return -r1 * d; })));
        BOOST_TEST(
            (power_length(r1, r2) == by_table([=](double d) { return -r1 * std::pow(d, r2); })));
        BOOST_TEST(
            (log_length(r1, r2) == by_table([=](double d) { return -r1 * std::log1p(r2 * d); })));
        for (const double r3 : {0.5, 1.3, 2.0})
          BOOST_TEST((log3_length(r1, r2, r3) ==
                      by_table([=](double d) { return -r1 * std::log1p(r2 * std::pow(d, r3)); })));
      }
    }
}

BOOST_AUTO_TEST_CASE(a_root_that_rounds_across_an_integer_does_no_harm) {
  // k(n) is -2 up to the last bit, either side of it; the closed form alone is off by one on some.
  for (const double r2 : {0.1, 0.5, 0.7, 1.3})
    for (int n = 2; n < 100; ++n)
      for (const double towards : {0.0, 1.0, 2.0}) {
        const auto factor = [&](double x) {
          const double r1 = 2 / x;
          return towards == 1 ? r1 : std::nextafter(r1, towards * 100);
        };
        const auto check = [&](Reach got, const std::function<double(double)>& kernel) {
          const EffectiveLength want =
              effective_length([&](int64_t d) { return kernel(static_cast<double>(d)); }, n + 2);
          BOOST_TEST_REQUIRE((got == want.length), "r2 " << r2 << ", n " << n << ", " << towards);
        };
        double r1 = factor(std::pow(n, r2));
        check(power_length(r1, r2), [=](double d) { return -r1 * std::pow(d, r2); });
        r1 = factor(std::log1p(r2 * n));
        check(log_length(r1, r2), [=](double d) { return -r1 * std::log1p(r2 * d); });
      }
}

BOOST_AUTO_TEST_CASE(what_is_beyond_the_largest_distance_is_not_reached) {
  BOOST_TEST(!log_length(0.01, 0.01).has_value());   // exp(200)
  BOOST_TEST(!log_length(0.002, 0.01).has_value());  // exp(1000) overflows
  BOOST_TEST(!power_length(1e-200, 0.01).has_value());
  BOOST_TEST(!alibi_length(2.0 / 20480).has_value());  // 20481
  BOOST_TEST(alibi_length(2.0 / 20479.5).value() == 20480);
  BOOST_TEST(!effective_length([](int64_t) { return -2.0; }).length.has_value());
}

BOOST_AUTO_TEST_CASE(a_kernel_that_rises_somewhere_is_flagged) {
  const std::vector<double> falling{0, -1, -1.5, -3}, rising{0, -3, -1, -4}, flat{0, -1, -1, -3};
  BOOST_TEST(effective_length(falling).is_monotone);
  BOOST_TEST(!effective_length(rising).is_monotone);
  BOOST_TEST(!effective_length(flat).is_monotone);
  BOOST_TEST(effective_length(falling).length.value() == 3);
  BOOST_TEST(effective_length(rising).length.value() == 1);  // the first distance, though it rises
  BOOST_TEST(!effective_length(std::vector<double>{0}).length.has_value());
}

BOOST_AUTO_TEST_CASE(a_window_ends_the_effective_length) {
  const std::vector<double> window{0, -0.1, -0.2, -INFINITY, -INFINITY};
  const EffectiveLength got = effective_length(window);
  BOOST_TEST(got.length.value() == 3);
  BOOST_TEST(got.is_monotone);
  BOOST_TEST(!effective_length(std::vector<double>{0, -INFINITY, -1}).is_monotone);
}

BOOST_AUTO_TEST_CASE(relative_to_the_bias_at_zero) {
  // t5: learned, constant over buckets, not 0 at distance 0
  const std::vector<double> bias{1.5, 1, 1, -0.6, -0.6, -2.5};
  const EffectiveLength got = effective_length(bias);
  BOOST_TEST(got.length.value() == 5);
  BOOST_TEST(got.relative.value() == 3);  // -0.6 - 1.5 < -2
  const std::vector<double> low{-3, -3.5, -4.9, -5};
  BOOST_TEST(effective_length(low).length.value() == 0);
  BOOST_TEST(!effective_length(low).relative.has_value());  // -5 + 3 is not below -2
}

BOOST_AUTO_TEST_CASE(the_curve_counts_heads) {
  const std::vector<Reach> lengths{2, {}, 0, 5, 2, 6};
  BOOST_TEST(head_count_curve(lengths, 5) == (std::vector<int64_t>{1, 1, 3, 3, 3, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(head_count_curve({}, 0) == std::vector<int64_t>{0}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(parameters_out_of_range_are_refused) {
  const auto bad = says("[posenc] bad_parameter: ");
  for (const double r : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    BOOST_CHECK_EXCEPTION(alibi_length(r), IoError, bad);
    BOOST_CHECK_EXCEPTION(power_length(r, 1), IoError, bad);
    BOOST_CHECK_EXCEPTION(power_length(1, r), IoError, bad);
    BOOST_CHECK_EXCEPTION(log_length(r, 1), IoError, bad);
    BOOST_CHECK_EXCEPTION(log_length(1, r), IoError, bad);
    BOOST_CHECK_EXCEPTION(log3_length(1, 1, r), IoError, bad);
  }
  BOOST_CHECK_EXCEPTION(
      power_length(1, 2.01), IoError,
      says("bad_parameter: expected a finite kerple_power.r2 above 0 and at most 2, got 2.01"));
  BOOST_CHECK_EXCEPTION(log3_length(1, 1, 2.01), IoError, says("a finite kerple_log3.r3"));
  BOOST_TEST(power_length(1, 2).value() == 2);
}

BOOST_AUTO_TEST_CASE(kernels_without_a_value_are_refused) {
  const auto bad = says("[eval:effective-length] nonfinite_kernel: ", "at distance 1");
  BOOST_CHECK_EXCEPTION(effective_length(std::vector<double>{0, NAN}), Error, bad);
  BOOST_CHECK_EXCEPTION(effective_length(std::vector<double>{0, INFINITY}), Error, bad);
  BOOST_CHECK_EXCEPTION(effective_length(std::vector<double>{-INFINITY, 0}), Error,
                        says("nonfinite_kernel: ", "at distance 0"));
  BOOST_CHECK_EXCEPTION(effective_length(std::vector<double>{}), ConfigError,
                        says("bad_argument: expected a table"));
  BOOST_CHECK_EXCEPTION(effective_length([](int64_t) { return 0.0; }, -1), ConfigError,
                        says("bad_argument: "));
  BOOST_CHECK_EXCEPTION(head_count_curve({}, -1), ConfigError, says("bad_argument: "));
  BOOST_CHECK_EXCEPTION(head_count_curve(std::vector<Reach>{-1}), ConfigError,
                        says("bad_argument: expected lengths from 0 on"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
