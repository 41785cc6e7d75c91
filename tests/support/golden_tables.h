#pragma once
// Common parts of tests of table encodings: golden/tables_h*.json against the tables that an
// expression gives, their derivatives, and gradients of parameters against central differences.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/grad_check.h"

namespace farfield::posenc {

/// An entry of golden/tables_h*.json and what makes it: `encoding(r1=[...], ..., more)`, with the
/// named parameters as arguments.
struct GoldenTable {
  std::string key;
  std::string encoding = key;
  std::vector<std::string> parameters = {};
  std::string more = {};

  std::string expression(const nlohmann::json& entry, const std::string& extra = "") const {
    std::string arguments = more;
    const auto add = [&](const std::string& text) {
      if (!text.empty()) arguments += (arguments.empty() ? "" : ", ") + text;
    };
    for (const std::string& name : parameters) {
      const auto& value = entry["params"][name];
      add(name + '=' + (value.is_array() ? list_text(value) : to_text(value.get<double>())));
    }
    add(extra);
    return encoding + '(' + arguments + ')';
  }
};

inline const nlohmann::json& golden_tables(int64_t n_head) {
  return farfield::test::golden(concat("tables_h", n_head, ".json"));
}

/// The smallest distance up to 20480 with a bias below -2, per head; -1 where there is none.
inline std::vector<double> effective_lengths(const Tensor& bias) {
  std::vector<double> lengths;
  const std::vector<double> all = bias.to_vector();
  const auto n = static_cast<size_t>(bias.dim(1));
  for (size_t begin = 0; begin < all.size(); begin += n) {
    double length = -1;
    for (size_t d = 0; d < n && length < 0; ++d)
      if (all[begin + d] < -2) length = static_cast<double>(d);
    lengths.push_back(length);
  }
  return lengths;
}

/// Bias and weight, in float64 as the encoding makes them and, with `fixed` (learn=false where the
/// encoding learns: parameters in float32 have other values), rounded to float32; and the effective
/// lengths.
inline void check_golden_tables(const GoldenTable& golden, const std::string& fixed = "") {
  using farfield::test::golden_numbers;
  for (const int64_t n_head : {12, 8}) {
    const auto& file = golden_tables(n_head);
    const auto& entry = file["encodings"][golden.key];
    const std::vector<double> distances = golden_numbers(file["distances"]);
    const auto check = [&](const std::string& expression, DType dtype) {
      const ScoreRule rule = rule_of(Composition(expression, model_of(n_head, dtype)), 20481);
      for (const auto& [table, key] : {std::pair{rule.bias, "b"}, {rule.weight, "w"}}) {
        BOOST_TEST_REQUIRE(table.defined() == entry.contains(key), expression);
        if (!table.defined()) continue;
        BOOST_TEST((table.dtype() == dtype));
        BOOST_TEST(all_close(at_distances(table, distances), golden_numbers(entry[key]),
                             table_tolerance(dtype)),
                   key << " of " << expression << " in " << dtype);
      }
      if (dtype != DType::f64 || !entry.contains("effective_length")) return;
      std::vector<double> lengths;
      for (const auto& length : entry["effective_length"])
        lengths.push_back(length.is_null() ? -1 : length.get<double>());
      BOOST_TEST(effective_lengths(rule.bias) == lengths, boost::test_tools::per_element());
    };
    check(golden.expression(entry), DType::f64);
    for (const DType dtype : {DType::f64, DType::f32})
      check(golden.expression(entry, fixed), dtype);
  }
}

/// d b / d parameter and d w / d parameter at the golden distances.
inline void check_golden_derivatives(const GoldenTable& golden) {
  using farfield::test::golden_numbers;
  constexpr int64_t kLength = 8192;
  for (const int64_t n_head : {12, 8}) {
    const auto& file = golden_tables(n_head);
    const auto& entry = file["encodings"][golden.key];
    const Composition c(golden.expression(entry), model_of(n_head));
    const std::vector<double> distances = golden_numbers(file["grad_distances"]);
    size_t n_compared = 0;
    for (size_t column = 0; column < distances.size(); ++column)
      for (const char* key : {"db", "dw"}) {
        if (!entry.contains(key)) continue;
        const ScoreRule rule = rule_of(c, kLength, Phase::train);
        const Tensor table = key[1] == 'b' ? rule.bias : rule.weight;
        std::vector<double> seed(static_cast<size_t>(table.numel()));
        for (int64_t h = 0; h < n_head; ++h)
          seed[static_cast<size_t>(h * kLength) + static_cast<size_t>(distances[column])] = 1;
        for (const Parameter& parameter : c.parameters()) parameter.value.set_grad({});
        backward(table, Tensor::from(seed, table.shape(), DType::f64));
        for (const Parameter& parameter : c.parameters()) {
          const std::string name = parameter.name.substr(parameter.name.rfind('.') + 1);
          if (!entry[key].contains(name)) continue;
          std::vector<double> want;
          for (const auto& row : entry[key][name]) want.push_back(row[column].get<double>());
          BOOST_TEST(
              all_close(parameter.value.grad().to_vector(), want, table_tolerance(DType::f64)),
              key << " by " << parameter.name << " at distance " << distances[column]);
          ++n_compared;
        }
      }
    BOOST_TEST(n_compared == golden.parameters.size() * distances.size());
  }
}

/// Puts values into a parameter as an optimizer would.
inline void store(const Composition& c, size_t index, const std::vector<double>& values) {
  Tensor x = c.parameters().at(index).value;
  BOOST_TEST_REQUIRE(static_cast<size_t>(x.numel()) == values.size());
  for (size_t i = 0; i < values.size(); ++i) x.data<double>()[i] = values[i];
}

/// BOOST_TEST(parameter_gradients_agree(c, n)): the gradients of all parameters, at their present
/// values, through the tables of n distances, against central differences. c is in float64.
inline boost::test_tools::assertion_result parameter_gradients_agree(const Composition& c,
                                                                     int64_t n) {
  std::vector<Tensor> start;
  for (const Parameter& parameter : c.parameters()) start.push_back(parameter.value.clone());
  // The parameters are leaves inside: copy the inputs in, hand the gradients out.
  const auto tables = [&c, n](const std::vector<Tensor>& xs) {
    for (size_t i = 0; i < xs.size(); ++i) store(c, i, xs[i].to_vector());
    const ScoreRule rule = rule_of(c, n, Phase::train);
    std::vector<Tensor> made, ys;
    for (const Tensor& table : {rule.bias, rule.weight}) {
      if (!table.defined()) continue;
      made.push_back(table);
      ys.push_back(table.clone());
    }
    std::vector<Tensor*> outputs;
    for (Tensor& y : ys) outputs.push_back(&y);
    record("tables", outputs, xs, [&c, made](const std::vector<Tensor>& dys) {
      for (const Parameter& parameter : c.parameters()) parameter.value.set_grad({});
      backward(made, dys);
      Grads grads;
      for (const Parameter& parameter : c.parameters()) grads.push_back(parameter.value.grad());
      return grads;
    });
    return ys;
  };
  return gradients_agree(ManyToMany(tables), start);
}

/// The values of a parameter of a model with many heads: uniform in [low, high), those below
/// `least` raised to it.
inline void check_uniform_start(const Parameter& parameter, double low, double high, double least) {
  std::vector<double> values = parameter.value.to_vector();
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    // Kolmogorov and Smirnov: beyond 2 / sqrt(n) once in a thousand.
    const double want = low + (high - low) * (static_cast<double>(i) + 0.5) / n;
    BOOST_TEST_REQUIRE(
        std::abs(values[i] - std::max(want, least)) < 2 * (high - low) / std::sqrt(n),
        parameter.name);
    BOOST_TEST_REQUIRE((values[i] >= least && values[i] < high), parameter.name);
  }
  BOOST_TEST(!parameter.decay);
}

/// The same for an encoding of numbers per head, with a clamp and with a smooth map.
inline void check_parameter_gradients(const std::string& encoding) {
  for (const char* constraint : {"project", "softplus"})
    BOOST_TEST(parameter_gradients_agree(
                   Composition(concat(encoding, "(constraint=", constraint, ')'), model_of(3)), 7),
               constraint);
}

}  // namespace farfield::posenc
