#pragma once
// The small attention problems of golden/attention.json and golden/landmark.json, from the tables
// of a layer to the gradients of its parameters.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "engine/ops/attention.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc::golden_attention {

using farfield::test::golden_numbers;
using Json = nlohmann::json;

inline const Json& file() {
  static const Json& json = farfield::test::golden("attention.json");
  return json;
}
inline const Json& case_named(std::string_view name) {
  for (const Json* from : {&file(), &farfield::test::golden("landmark.json")})
    for (const Json& c : (*from)["cases"])
      if (c["name"].get<std::string>() == name) return c;
  fail<ConfigError>("test", "expected a case named ", name);
}
inline int64_t size(const char* name) { return file()[name].get<int64_t>(); }

/// Golden [H][L][D] as [1, L, H * D], which is how attention() returns it.
inline Tensor rows_of(const Json& array, DType dtype) {
  const Tensor x = Tensor::from(golden_numbers(array),
                                {size("heads"), size("length"), size("head_dim")}, DType::f64);
  return cast(reshape(permute(x, {1, 0, 2}), {1, size("length"), size("heads") * size("head_dim")}),
              dtype);
}

struct Gradients {
  Tensor out, dqkv;  // [1, L, H * D], [1, L, 3 * H * D]
  Tensor dbias, dweight;
};
// One forward and backward pass under the rule and rotation of a layer. With `tables`, bias and
// weight are leaves with the same values (0 and 1 where there are none), so that their own
// gradients are seen.
inline Gradients run(Composition::Layer layer, DType dtype, bool tables) {
  const int64_t n_head = size("heads"), length = size("length");
  const auto leaf = [&](Tensor& table, double absent) {
    table = table.defined() ? table.clone() : Tensor::full({n_head, length}, absent, dtype);
    table.set_requires_grad();
  };
  if (tables) {
    leaf(layer.rule.bias, 0);
    leaf(layer.rule.weight, 1);
  }
  std::vector<Tensor> parts;  // [1, L, H, 1, D] each
  for (const char* name : {"q", "k", "v"})
    parts.push_back(
        reshape(rows_of(file()[name], dtype), {1, length, n_head, 1, size("head_dim")}));
  Tensor qkv = reshape(farfield::concat(parts, 3), {1, length, 3 * n_head * size("head_dim")});
  qkv.set_requires_grad();
  const Heads heads = split_heads(qkv, n_head, layer.rotation);
  Gradients result;
  result.out = attention(heads.q, heads.k, heads.v, layer.rule, heads.far);
  backward(result.out, rows_of(file()["dout"], dtype));
  result.dqkv = qkv.grad();
  if (tables) {
    result.dbias = layer.rule.bias.grad();
    result.dweight = layer.rule.weight.grad();
  }
  return result;
}

// 1e-12 in float64, 2e-5 of the largest entry in float32.
inline Tolerance tolerance_for(const std::vector<double>& want, DType dtype) {
  double largest = 0;
  for (const double x : want) largest = std::max(largest, std::abs(x));
  return {(dtype == DType::f64 ? 1e-12 : 2e-5) * std::max(largest, 1e-3), 0};
}
inline void check(const Tensor& got, const Json& want, DType dtype, const std::string& what) {
  const std::vector<double> numbers = golden_numbers(want);
  BOOST_TEST_REQUIRE(got.defined(), what);
  BOOST_TEST(all_close(got.to_vector(), numbers, tolerance_for(numbers, dtype)),
             what << " in " << dtype);
}

// Part `index` (q, k, v) of dqkv, as golden [H][L][D].
inline Tensor part_of(const Tensor& dqkv, int64_t index) {
  const int64_t n_head = size("heads"), length = size("length"), width = size("head_dim");
  const Tensor x = reshape(dqkv, {length, n_head, 3, width});
  return permute(reshape(slice(x, 2, index, index + 1), {length, n_head, width}), {1, 0, 2});
}

inline void check_layer(const std::string& name, const Composition::Layer& layer, DType dtype) {
  const Json& want = case_named(name);
  const Gradients got = run(layer, dtype, false);
  const Tensor out = reshape(got.out, {size("length"), size("heads"), size("head_dim")});
  check(permute(out, {1, 0, 2}), want["out"], dtype, name + " out");
  check(part_of(got.dqkv, 0), want["dq"], dtype, name + " dq");
  check(part_of(got.dqkv, 1), want["dk"], dtype, name + " dk");
  check(part_of(got.dqkv, 2), want["dv"], dtype, name + " dv");
}

/// The model of the problems.
inline Config golden_model(DType dtype, int64_t train_len) {
  return {.n_head = size("heads"),
          .head_dim = size("head_dim"),
          .d_model = size("heads") * size("head_dim"),
          .train_len = train_len,
          .dtype = dtype};
}

/// Output, dq, dk, dv and, where they are given, the gradients of tables and parameters, in both
/// precisions. The model is trained on as many tokens as the problem has, unless given.
inline void check_case(const std::string& name, const std::string& expression,
                       int64_t train_len = size("length")) {
  const Json& want = case_named(name);
  const int64_t length = size("length");
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Composition c(expression, golden_model(dtype, train_len));
    const auto layer = [&] { return c.plan(length, length, Phase::train).layers[0]; };
    check_layer(name, layer(), dtype);
    for (const Parameter& parameter : c.parameters()) {
      const std::string short_name = parameter.name.substr(parameter.name.rfind('.') + 1);
      check(parameter.value.grad(), want["dparams"][short_name], dtype, name + ' ' + short_name);
    }
    if (!want.contains("db")) continue;
    const Gradients tables = run(layer(), dtype, true);
    check(tables.dbias, want["db"], dtype, name + " db");
    check(tables.dweight, want["dw"], dtype, name + " dw");
  }
}

}  // namespace farfield::posenc::golden_attention
