// The small attention problems of golden/attention.json, from the expression of the encoding to the
// gradients of its parameters.
#define BOOST_TEST_MODULE golden_attention
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>

#include "engine/autograd.h"
#include "engine/ops/attention.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/random_tensor.h"

namespace farfield::posenc {
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;
using Json = nlohmann::json;

const Json& file() {
  static const Json json = golden("attention.json");
  return json;
}
const Json& case_named(const std::string& name) {
  for (const Json& c : file()["cases"])
    if (c["name"] == name) return c;
  fail<ConfigError>("test", "expected a case named ", name);
}
int64_t size(const char* name) { return file()[name].get<int64_t>(); }

/// Golden [H][L][D] as [1, L, H * D], which is how attention() returns it.
Tensor rows_of(const Json& array, DType dtype) {
  const Tensor x = Tensor::from(golden_numbers(array),
                                {size("heads"), size("length"), size("head_dim")}, DType::f64);
  return cast(reshape(permute(x, {1, 0, 2}), {1, size("length"), size("heads") * size("head_dim")}),
              dtype);
}

struct Gradients {
  Tensor out, dqkv;  // [1, L, H * D], [1, L, 3 * H * D]
  Tensor dbias, dweight;
};
// One forward and backward pass under the rule and rotation of the plan's first layer. With
// `tables`, bias and weight are leaves with the same values (0 and 1 where there are none), so that
// their own gradients are seen.
Gradients run(const Composition& c, DType dtype, bool tables) {
  const int64_t n_head = size("heads"), length = size("length");
  Composition::Layer layer = c.plan(length, length, Phase::train).layers[0];
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
  result.out = attention(heads.q, heads.k, heads.v, layer.rule);
  backward(result.out, rows_of(file()["dout"], dtype));
  result.dqkv = qkv.grad();
  if (tables) {
    result.dbias = layer.rule.bias.grad();
    result.dweight = layer.rule.weight.grad();
  }
  return result;
}

// 1e-12 in float64, 2e-5 of the largest entry in float32.
Tolerance tolerance_for(const std::vector<double>& want, DType dtype) {
  double largest = 0;
  for (const double x : want) largest = std::max(largest, std::abs(x));
  return {(dtype == DType::f64 ? 1e-12 : 2e-5) * std::max(largest, 1e-3), 0};
}
void check(const Tensor& got, const Json& want, DType dtype, const std::string& what) {
  const std::vector<double> numbers = golden_numbers(want);
  BOOST_TEST_REQUIRE(got.defined(), what);
  BOOST_TEST(all_close(got.to_vector(), numbers, tolerance_for(numbers, dtype)),
             what << " in " << dtype);
}

// Part `index` (q, k, v) of dqkv, as golden [H][L][D].
Tensor part_of(const Tensor& dqkv, int64_t index) {
  const int64_t n_head = size("heads"), length = size("length"), width = size("head_dim");
  const Tensor x = reshape(dqkv, {length, n_head, 3, width});
  return permute(reshape(slice(x, 2, index, index + 1), {length, n_head, width}), {1, 0, 2});
}

void check_case(const std::string& name, const std::string& expression) {
  const Json& want = case_named(name);
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Composition c(expression, {.n_head = size("heads"),
                                     .head_dim = size("head_dim"),
                                     .d_model = size("heads") * size("head_dim"),
                                     .train_len = size("length"),
                                     .dtype = dtype});
    const Gradients got = run(c, dtype, false);
    const Tensor out = reshape(got.out, {size("length"), size("heads"), size("head_dim")});
    check(permute(out, {1, 0, 2}), want["out"], dtype, name + " out");
    check(part_of(got.dqkv, 0), want["dq"], dtype, name + " dq");
    check(part_of(got.dqkv, 1), want["dk"], dtype, name + " dk");
    check(part_of(got.dqkv, 2), want["dv"], dtype, name + " dv");
    for (const Parameter& parameter : c.parameters()) {
      const std::string short_name = parameter.name.substr(parameter.name.rfind('.') + 1);
      check(parameter.value.grad(), want["dparams"][short_name], dtype, name + ' ' + short_name);
    }
    if (!want.contains("db")) continue;
    const Gradients tables = run(c, dtype, true);
    check(tables.dbias, want["db"], dtype, name + " db");
    check(tables.dweight, want["dw"], dtype, name + " dw");
  }
}

BOOST_AUTO_TEST_CASE(no_encoding) { check_case("none", "none"); }

BOOST_AUTO_TEST_CASE(alibi_after_and_before_the_scale) {
  check_case("alibi", "alibi");
  check_case("alibi_pre_scale", "alibi(bias_scale=0.35355339059327373)");
}

BOOST_AUTO_TEST_CASE(kerple_log_with_the_gradients_of_its_parameters) {
  const Json& config = case_named("kerple_log")["config"];
  check_case("kerple_log", concat("kerple_log(r1=", list_text(config["r1"]),
                                  ", r2=", list_text(config["r2"]), ')'));
}

BOOST_AUTO_TEST_CASE(sandwich) { check_case("sandwich", "sandwich(8)"); }

BOOST_AUTO_TEST_CASE(windows) {
  check_case("window", "window(3)");
  check_case("window_alibi", "window(3) + alibi");
}

BOOST_AUTO_TEST_CASE(rotations) {
  check_case("rope_half", "rope");
  check_case("rope_interleaved", "rope(layout=interleaved)");
  check_case("rope_partial", "rope(rotary_pct=0.5)");
}

// Rotary scores do not change when all positions move: the last rows of a longer sequence equal
// those of the same tokens at the start, when a window hides what came before.
BOOST_AUTO_TEST_CASE(relative_encodings_do_not_see_a_shift) {
  const int64_t shift = 5, length = size("length"), n_head = size("heads");
  for (const char* expression : {"rope", "alibi", "kerple_log", "sandwich", "rope + alibi"}) {
    const Composition c(expression, {.n_head = n_head, .head_dim = 8, .dtype = DType::f64});
    const auto out = [&](int64_t offset) {  // the same tokens at positions offset ...
      const int64_t n = offset + length;
      const Composition::Layer all = c.plan(n, n, Phase::eval).layers[0];
      const Composition::Layer layer = c.plan(length, length, Phase::eval).layers[0];
      Rotation rotation;
      if (all.rotation.cos.defined())
        rotation = {.cos = slice(all.rotation.cos, 0, offset, n),
                    .sin = slice(all.rotation.sin, 0, offset, n)};
      std::vector<Tensor> parts;
      for (const char* name : {"q", "k", "v"})
        parts.push_back(reshape(rows_of(file()[name], DType::f64), {1, length, n_head, 1, 8}));
      const Heads heads = split_heads(
          reshape(farfield::concat(parts, 3), {1, length, 3 * n_head * 8}), n_head, rotation);
      return attention(heads.q, heads.k, heads.v, layer.rule);
    };
    BOOST_TEST(all_close(out(shift), out(0), Tolerance(1e-12)), expression);
  }
}

// A window of one layer is the same as cutting the sequence off before it.
BOOST_AUTO_TEST_CASE(a_window_equals_a_shorter_context) {
  const int64_t n_head = 2, n = 9, w = 4, width = 8;
  for (const char* expression : {"none", "alibi", "sandwich"}) {
    const Config config{.n_head = n_head, .head_dim = width, .dtype = DType::f64};
    const Composition windowed(concat(expression, " + window(", w, ')'), config);
    const Composition plain(expression, config);
    const Tensor q = random_tensor({1, n_head, n, width}, 1), k = random_tensor(q.shape(), 2),
                 v = random_tensor(q.shape(), 3);
    const Tensor all = attention(q, k, v, rule_of(windowed, n));
    const auto tail = [&](const Tensor& x, int64_t count) { return slice(x, 2, n - count, n); };
    const Tensor last =
        attention(tail(q, 1), tail(k, w), tail(v, w), plain.plan(1, w, Phase::eval).layers[0].rule);
    BOOST_TEST(all_close(slice(all, 1, n - 1, n), last, Tolerance(1e-13)), expression);
  }
}

}  // namespace
}  // namespace farfield::posenc
