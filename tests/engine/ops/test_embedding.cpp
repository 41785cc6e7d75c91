#include <boost/test/unit_test.hpp>

#include "engine/base/parallel.h"
#include "engine/ops/embedding.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_embedding)  // ctest: on_cuda arm64
namespace {

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

Tensor ids_of(std::vector<int32_t> ids, const Shape& shape) { return Tensor::from(ids, shape); }

BOOST_AUTO_TEST_CASE(rows_are_looked_up_and_rounded) {
  const Tensor table = Tensor::from({1, 2, 257, 4, 5, 6}, {3, 2});
  const Tensor y = embedding(table, ids_of({1, 1, 2, 0}, {2, 2}), DType::bf16);
  BOOST_TEST(y.dtype() == DType::bf16);
  BOOST_TEST(all_close(y, Tensor::from({256, 4, 256, 4, 5, 6, 1, 2}, {2, 2, 2}), 0));
  for (const DType from : kFloats)
    for (const DType to : kFloats)
      BOOST_TEST(all_close(embedding(cast(table, from), ids_of({2}, {1}), to),
                           Tensor::from({5, 6}, {1, 2}), 0));
  BOOST_TEST(embedding(table, ids_of({}, {0, 5}), DType::f32).shape() == (Shape{0, 5, 2}));
}

BOOST_AUTO_TEST_CASE(gradients_of_equal_ids_add_up) {
  const Tensor ids = ids_of({3, 0, 3, 3, 1}, {5});
  BOOST_TEST(gradients_agree(
      [](const std::vector<Tensor>& in) { return square(embedding(in[0], in[1], DType::f64)); },
      {random_tensor({5, 3}, 1), ids}));
  // wide rows, many ids, against sums in double
  const Tensor many = random_ids({900}, 1, 7);
  const Tensor dy = random_tensor({900, 130}, 2, -1, 1, DType::bf16);
  const auto id = many.to_vector(), values = dy.to_vector();
  std::vector<double> want(7 * 130);
  for (size_t i = 0; i < values.size(); ++i)
    want[static_cast<size_t>(id[i / 130]) * 130 + i % 130] += values[i];
  for (const DType dtype : kFloats) {
    BOOST_TEST_CONTEXT(dtype) {
      Tensor table = Tensor::zeros({7, 130}, dtype);
      table.set_requires_grad();
      backward(embedding(table, many, DType::bf16), dy);
      BOOST_TEST(table.grad().dtype() == dtype);
      BOOST_TEST(all_close(table.grad(), Tensor::from(want, {7, 130}, DType::f64),
                           tolerance(dtype, Work::reduction)));
    }
  }
}

BOOST_AUTO_TEST_CASE(parts_of_a_table_sum_to_the_whole) {
  const Tensor whole = random_tensor({11, 5}, 1), dy = random_tensor({40, 5}, 2);
  const Tensor ids = random_ids({40}, 3, 11);
  for (const DType dtype : kFloats) {
    const auto looked_up = [&](Tensor table, int64_t first, Tensor& gradient) {
      table = cast(table, dtype).clone();
      table.set_requires_grad();
      const Tensor y = embedding_part(table, ids, dtype, first, 11);
      backward(y, cast(dy, dtype));
      gradient = table.grad();
      return y;
    };
    Tensor want_gradient;
    const Tensor want = looked_up(whole, 0, want_gradient);
    Tensor sum = zeros_like(want);
    std::vector<Tensor> gradients;
    for (const auto& [begin, end] :
         std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 5}, {5, 11}}) {
      gradients.emplace_back();
      sum = sum + looked_up(slice(whole, 0, begin, end), begin, gradients.back());
    }
    BOOST_TEST(same_bits(sum, want));
    BOOST_TEST(same_bits(concat(gradients, 0), want_gradient));
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  Tensor table = random_tensor({50, 96}, 2, -1, 1, DType::f32);
  table.set_requires_grad();
  const Tensor ids = random_ids({4000}, 3, 50);
  std::vector<Tensor> want;
  for (const int n : {1, 2, 3}) {
    set_thread_count(n);
    const Tensor rows = embedding(table, ids, DType::f32);
    backward(sum(square(rows)));
    const std::vector<Tensor> got{rows, table.grad()};
    if (want.empty()) want = got;
    for (size_t i = 0; i < got.size(); ++i) BOOST_TEST(same_bits(got[i], want[i]));
    table.set_grad({});
  }
}

BOOST_AUTO_TEST_CASE(errors_name_the_op_and_what_came) {
  const Tensor table = Tensor::zeros({3, 2});
  BOOST_CHECK_EXCEPTION(embedding(table, ids_of({0, 3}, {2}), DType::f32), ShapeError,
                        says_exactly("[embedding] expected ids from 0 to 2, got 3 at position 1"));
  BOOST_CHECK_EXCEPTION(embedding(table, ids_of({-1}, {1}), DType::f32), ShapeError,
                        says_exactly("[embedding] expected ids from 0 to 2, got -1 at position 0"));
  BOOST_CHECK_EXCEPTION(embedding_part(table, ids_of({4}, {1}), DType::f32, 1, 4), ShapeError,
                        says_exactly("[embedding] expected ids from 0 to 3, got 4 at position 0"));
  BOOST_CHECK_EXCEPTION(embedding_part(table, ids_of({0}, {1}), DType::f32, 2, 4), ShapeError,
                        says_exactly("[embedding] expected rows of 4, got 3 from row 2 on"));
  BOOST_CHECK_EXCEPTION(embedding(table, table, DType::f32), DTypeError,
                        says_exactly("[embedding] expected int32 ids, got float32"));
  BOOST_CHECK_EXCEPTION(embedding(Tensor::zeros({3}), ids_of({0}, {1}), DType::f32), ShapeError,
                        says_exactly("[embedding] expected a table [V, D], got [3]"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
