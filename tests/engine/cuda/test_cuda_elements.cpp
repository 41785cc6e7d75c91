// The ops on both devices: every dtype, odd and empty sizes, and places in memory where 16 bytes
// cannot be loaded at once.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/kernels.h"
#include "engine/ops/embedding.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "tests/support/both_devices.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_elements)  // ctest: gpu
namespace {

using Inputs = std::vector<Tensor>;
const DType kFloats[] = {DType::f32, DType::bf16, DType::f64};
const Shape kShapes[] = {{}, {0}, {1}, {3, 0, 2}, {8}, {7, 37}, {16, 129}, {3, 1, 5, 8}};

BOOST_AUTO_TEST_CASE(functions_of_one_element) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> ops[] = {
      {"negate", [](const Tensor& x) { return -x; }},
      {"exp", exp},
      {"log", log},
      {"log1p", log1p},
      {"sqrt", sqrt},
      {"square", square},
      {"sin", sin},
      {"cos", cos},
      {"tanh", tanh},
      {"sigmoid", sigmoid},
      {"silu", silu},
      {"gelu", gelu},
      {"gelu_tanh", gelu_tanh},
      {"relu", relu},
      {"elu_plus_one", elu_plus_one},
      {"heaviside", heaviside}};
  for (const auto& [name, op] : ops)
    for (const DType dtype : kFloats) {
      const bool is_positive = op == log || op == log1p || op == sqrt;
      for (const Shape& shape : kShapes)
        devices_agree(concat(name, ' ', dtype, ' ', shape),
                      {random_tensor(shape, 1, is_positive ? 0.1 : -2, 2, dtype)}, Work::pointwise,
                      [f = op](const Inputs& in) { return f(in[0]); });
    }
}

BOOST_AUTO_TEST_CASE(functions_of_two_broadcast_elements) {
  using Op = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::pair<const char*, Op> ops[] = {
      {"add", [](const Tensor& a, const Tensor& b) { return a + b; }},
      {"subtract", [](const Tensor& a, const Tensor& b) { return a - b; }},
      {"multiply", [](const Tensor& a, const Tensor& b) { return a * b; }},
      {"divide", [](const Tensor& a, const Tensor& b) { return a / b; }},
      {"swiglu", [](const Tensor& a, const Tensor& b) { return swiglu(a, b); }},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); }},
      {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); }},
      {"minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); }}};
  const std::pair<Shape, Shape> shapes[] = {
      {{}, {}},         {{0}, {1}},          {{7, 37}, {7, 37}},     {{7, 37}, {37}},
      {{7, 1}, {37}},   {{5, 16}, {5, 1}},   {{5, 16}, {16}},        {{5, 1, 16}, {4, 1}},
      {{4, 24}, {}},    {{}, {130}},         {{2, 3, 8}, {2, 1, 8}}, {{3, 1, 5}, {2, 1}},
      {{1, 1}, {9, 8}}, {{2, 1, 3, 1}, {8}}, {{6, 1}, {2, 1, 1, 10}}};
  for (const auto& [name, op] : ops)
    for (const DType dtype : kFloats)
      for (const auto& [a, b] : shapes)
        devices_agree(concat(name, ' ', dtype, ' ', a, ' ', b),
                      {random_tensor(a, 1, 0.5, 2, dtype), random_tensor(b, 2, 0.5, 2, dtype)},
                      Work::reduction, [f = op](const Inputs& in) { return f(in[0], in[1]); });
}

BOOST_AUTO_TEST_CASE(a_number_beside_a_tensor_keeps_its_float32) {
  for (const DType dtype : kFloats)
    for (const Shape& shape : kShapes)
      devices_agree(concat(dtype, ' ', shape), {random_tensor(shape, 1, 0.5, 2, dtype)},
                    Work::pointwise,
                    [](const Inputs& in) { return pow(1.003 * in[0], 1.7) - 0.1; });
}

BOOST_AUTO_TEST_CASE(elements_that_begin_anywhere) {
  for (const DType dtype : kFloats)
    for (const int64_t row : {1, 3, 8}) {
      const Shape shape{50, row};
      devices_agree(concat(dtype, ' ', shape),
                    {random_tensor(shape, 1, -1, 1, dtype), random_tensor(shape, 2, -1, 1, dtype)},
                    Work::reduction, [](const Inputs& in) {
                      const Tensor a = slice(in[0], 0, 1, 48), b = slice(in[1], 0, 2, 49);
                      return gelu(a) * b + sum(a, 0) + mean(b);
                    });
    }
}

BOOST_AUTO_TEST_CASE(not_a_number_stays_one) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : kFloats) {
    const Tensor x = Tensor::from({nan, -inf, inf, 0, -0.0, 1e-40, 3e38, -3e38, nan}, {9}, dtype);
    const auto agree = [&](const auto& f) {
      const NoGrad no_grad;
      const auto want = f(x).to_vector(), got = f(x.to(kCuda)).to_vector();
      for (size_t i = 0; i < want.size(); ++i)
        BOOST_TEST((got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))),
                   "element " << i << ": " << got[i] << ", want " << want[i]);
    };
    agree([](const Tensor& a) { return relu(a); });
    agree([](const Tensor& a) { return maximum(a, 1.0); });
    agree([](const Tensor& a) { return minimum(a, 1.0); });
    agree([](const Tensor& a) { return max(a, 0); });
    agree([](const Tensor& a) { return max(reshape(a, {3, 3}), 0); });
  }
}

BOOST_AUTO_TEST_CASE(conversions) {
  const DType all[] = {DType::f32, DType::bf16, DType::f64, DType::i32};
  for (const DType from : all)
    for (const DType to : all)
      for (const Shape& shape : kShapes) {
        const Tensor x = cast(random_tensor(shape, 4, -300, 300), from);
        const NoGrad no_grad;
        BOOST_TEST(same_bits(cast(x.to(kCuda), to).to(Device{}), cast(x, to)),
                   from << " to " << to << ' ' << shape);
      }
}

BOOST_AUTO_TEST_CASE(what_is_done_in_place) {
  for (const DType dtype : kFloats)
    for (const Shape& shape : kShapes) {
      const Tensor x = random_tensor(shape, 5, -1, 1, dtype),
                   y = random_tensor(shape, 6, -1, 1, dtype);
      const auto result = [&](const Device& device) {
        Tensor total = y.clone().to(device);
        dispatch(device, [&](auto tag) {
          add_in_place(tag, x.to(device), total);
          scale_in_place(tag, 0.3, total);
        });
        return total.to(Device{});
      };
      BOOST_TEST(same_bits(result(kCuda), result(Device{})), dtype << ' ' << shape);
      BOOST_TEST(same_bits(Tensor::full(shape, 0.7, dtype, kCuda).to(Device{}),
                           Tensor::full(shape, 0.7, dtype)));
    }
  BOOST_TEST(same_bits(Tensor::full({5}, -3, DType::i32, kCuda).to(Device{}),
                       Tensor::full({5}, -3, DType::i32)));
}

BOOST_AUTO_TEST_CASE(arrangements) {
  const std::pair<Shape, std::vector<int>> orders[] = {{{3, 5, 7}, {2, 0, 1}},
                                                       {{3, 5, 8}, {1, 0, 2}},
                                                       {{2, 3, 4, 16}, {0, 2, 1, 3}},
                                                       {{6, 33}, {1, 0}},
                                                       {{}, {}},
                                                       {{0, 4}, {1, 0}},
                                                       {{3, 1, 5, 2}, {3, 1, 0, 2}},
                                                       {{4, 5, 1}, {1, 0, 2}}};
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32}) {
    for (const auto& [shape, order] : orders)
      devices_agree(concat("permute ", dtype, ' ', shape),
                    {cast(random_tensor(shape, 7, -99, 99), dtype)}, Work::pointwise,
                    [o = order](const Inputs& in) { return permute(in[0], o); });
    for (const int dim : {0, 1, 2})
      for (const int64_t inner : {1, 3, 8}) {
        const Tensor x = cast(random_tensor({5, 6, inner + 2}, 8, -99, 99), dtype);
        devices_agree(concat("slice and concat ", dtype, ' ', dim, ' ', inner), {x},
                      Work::pointwise, [dim](const Inputs& in) {
                        const Tensor part = slice(in[0], dim, 1, 3);
                        return concat({part, slice(in[0], dim, 2, 2), in[0], part}, dim);
                      });
      }
  }
}

BOOST_AUTO_TEST_CASE(reductions) {
  const std::pair<Shape, int> cases[] = {
      {{1}, 0},    {{7, 37}, 1},   {{7, 37}, 0},   {{2, 200, 5}, 1}, {{3, 0, 4}, 1},
      {{0, 3}, 1}, {{2, 4104}, 1}, {{3, 4099}, 1}, {{2, 3, 8}, 2},   {{130, 3}, 0}};
  for (const DType dtype : kFloats)
    for (const auto& [shape, dim] : cases) {
      const Tensor x = random_tensor(shape, 9, -1, 1, dtype);
      const std::string what = concat(dtype, ' ', shape, " along ", dim);
      devices_agree("sum " + what, {x}, Work::reduction,
                    [d = dim](const Inputs& in) { return sum(in[0], d); });
      devices_agree("sum of all " + what, {x}, Work::reduction,
                    [](const Inputs& in) { return sum(in[0]); });
      if (shape[dim] == 0) continue;
      devices_agree("max " + what, {x}, Work::pointwise,
                    [d = dim](const Inputs& in) { return max(in[0], d); });
      devices_agree("logsumexp " + what, {x}, Work::reduction,
                    [d = dim](const Inputs& in) { return logsumexp(in[0], d); });
    }
}

BOOST_AUTO_TEST_CASE(the_first_of_equal_elements_takes_the_gradient) {
  for (const DType dtype : kFloats)
    for (const int dim : {0, 1})
      devices_agree(concat(dtype, ' ', dim), {cast(random_ids({70, 70}, 10, 3), dtype)},
                    Work::pointwise, [dim](const Inputs& in) { return max(in[0], dim); });
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_found) {
  for (const DType dtype : kFloats)
    for (const int64_t n : {0, 1, 777, 5000}) {
      Tensor x = random_tensor({n}, 11, -1, 1, dtype);
      BOOST_TEST(is_finite(cuda_tag(kCuda), x.to(kCuda)));
      if (n == 0) continue;
      for (const double bad : {std::nan(""), -std::numeric_limits<double>::infinity()}) {
        Tensor last = x.view({1}, n - 1);
        fill(Cpu{}, bad, last);
        BOOST_TEST(!is_finite(cuda_tag(kCuda), x.to(kCuda)), dtype << ' ' << n);
      }
    }
}

BOOST_AUTO_TEST_CASE(rows_of_a_table) {
  for (const DType table : kFloats)
    for (const DType out : kFloats)
      for (const int64_t d : {0, 1, 5, 16, 40})
        for (const Shape& ids : {Shape{0}, Shape{1}, Shape{3, 67}})
          devices_agree(concat(table, " to ", out, ' ', d, ' ', ids),
                        {random_tensor({9, d}, 12, -1, 1, table), random_ids(ids, 13, 8)},
                        Work::reduction,
                        [out](const Inputs& in) { return embedding(in[0], in[1], out); });
}

BOOST_AUTO_TEST_CASE(heads_and_their_rotation) {
  struct Case {
    int64_t batch, n_head, n_query, head_dim, turned;
    bool interleaved, has_scale, has_far, per_batch;
  };
  const Case cases[] = {
      {2, 3, 5, 8, 0, false, false, false, false}, {2, 3, 5, 8, 8, false, false, false, false},
      {1, 2, 7, 10, 6, true, true, false, false},  {2, 1, 4, 6, 4, false, true, false, true},
      {2, 2, 3, 8, 6, false, false, true, false},  {1, 1, 0, 4, 4, true, false, true, false}};
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Case& c : cases) {
      const Tensor qkv =
          random_tensor({c.batch, c.n_query, 3 * c.n_head * c.head_dim}, 14, -1, 1, dtype);
      const Shape near =
          c.per_batch ? Shape{c.batch, c.n_query, c.turned / 2} : Shape{c.n_query, c.turned / 2};
      const auto f = [&](const Inputs& in) {
        const Device& device = in[0].device();
        uint64_t seed = 20;
        const auto table = [&](const Shape& shape) {
          return random_tensor(shape, seed++, -1, 1, DType::f32).to(device);
        };
        Rotation rotation;
        rotation.interleaved = c.interleaved;
        if (c.turned > 0) rotation.cos = table(near), rotation.sin = table(near);
        if (c.has_scale) rotation.scale_q = table(near), rotation.scale_k = table(near);
        const Shape far{c.n_query, c.turned / 2};
        if (c.has_far) rotation.far = {table(far), table(far), table(far), table(far)};
        const Heads heads = split_heads(in[0], c.n_head, rotation);
        std::vector<Tensor> parts{heads.q, heads.k, heads.v};
        if (c.has_far) parts.insert(parts.end(), {heads.far.q, heads.far.k});
        return concat(parts, 0);
      };
      devices_agree(concat(dtype, " of ", c.turned, " turned components"), {qkv}, Work::pointwise,
                    f);
    }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
