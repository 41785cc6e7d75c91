// The head and its loss with rows of the vocabulary in each process.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "engine/autograd.h"
#include "engine/ops/cross_entropy.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/group_work.h"
#include "tests/support/random_tensor.h"

BOOST_AUTO_TEST_SUITE(test_cross_entropy_part)  // ctest: on_cuda

using namespace farfield;
using test::EndedProcess;
using test::in_processes;
using test::said;

namespace {

// Uneven parts.
VocabularyPart part_of(const Group& group, int64_t vocab_size) {
  return {group, vocab_size * group.rank() / group.size(), vocab_size};
}
Tensor own_rows(const Tensor& w, const Group& group) {
  return slice(w, 0, w.dim(0) * group.rank() / group.size(),
               w.dim(0) * (group.rank() + 1) / group.size());
}

struct Result {
  Tensor loss, nll, dx, dw;
};
Result result_of(const Tensor& x_values, const Tensor& w_values, const Tensor& targets,
                 const VocabularyPart& part) {
  Tensor x = x_values.clone(), w = w_values.clone();
  x.set_requires_grad();
  w.set_requires_grad();
  const Tensor loss = linear_cross_entropy(x, w, targets, part);
  backward(loss, Tensor::full({}, 3, loss.dtype()));
  return {loss, linear_nll(x, w, targets, part), x.grad(), w.grad()};
}

// Several chunks of tokens, a vocabulary that no number divides, logits that overflow without their
// maximum.
BOOST_AUTO_TEST_CASE(losses_and_gradients_are_those_of_one_process) {
  for (const int size : {2, 3, 4})
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
      for (const Shape& shape : {Shape{1, 3, 5}, Shape{37, 4, 31}, Shape{1100, 3, 2503}}) {
        const std::vector<EndedProcess> ended =
            in_processes(size, [&](std::shared_ptr<comm::Communicator> all) {
              const Group group(all);
              const int64_t n = shape[0], d = shape[1], vocab_size = shape[2];
              const Tensor x = random_tensor({n, d}, 1, -1, 1, dtype);
              const DType wide = dtype == DType::f64 ? DType::f64 : DType::f32;
              const Tensor w = rounded(random_tensor({vocab_size, d}, 2, -100, 100, dtype), wide);
              const Tensor targets = random_ids({n}, 3, static_cast<int32_t>(vocab_size));
              const Result want = result_of(x, w, targets, {}),
                           got = result_of(x, own_rows(w, group).clone(), targets,
                                           part_of(group, vocab_size));
              // Logits of 100 are rounded to eps 100 in every product. What is rounded to bfloat16
              // in between is dlogits.
              const Tolerance one = tolerance(dtype, Work::product);
              const Tolerance tol{dtype == DType::bf16 ? one.absolute : 100 * one.absolute,
                                  one.relative};
              const double scale = static_cast<double>(n) / 300;
              const auto scaled = [scale](const Tensor& grad) {
                return cast(grad, DType::f64) * scale;
              };
              return said(all_close(got.loss, want.loss, tol)) +
                     said(all_close(got.nll, want.nll, tol)) +
                     said(all_close(scaled(got.dx), scaled(want.dx), tol)) +
                     said(all_close(scaled(got.dw), scaled(own_rows(want.dw, group)), tol));
            });
        for (const EndedProcess& process : ended) {
          BOOST_TEST(process.status == 0, process.said);
          BOOST_TEST(process.said == "", size << " processes, " << dtype << ' ' << shape);
        }
      }
}

BOOST_AUTO_TEST_CASE(loss_and_dx_have_the_same_bits_everywhere) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const std::vector<EndedProcess> ended =
        in_processes(3, [&](std::shared_ptr<comm::Communicator> all) {
          const Group group(all);
          const Tensor w = random_tensor({41, 6}, 2, -1, 1, DType::f32);
          const Result got =
              result_of(random_tensor({50, 6}, 1, -1, 1, dtype), own_rows(w, group).clone(),
                        random_ids({50}, 3, 41), part_of(group, 41));
          std::string bits;
          for (const Tensor& x : {got.loss, got.nll, got.dx})
            bits.append(static_cast<const char*>(x.raw_data()),
                        static_cast<size_t>(x.size_bytes()));
          return bits;
        });
    for (const EndedProcess& process : ended) {
      BOOST_TEST(process.status == 0);
      BOOST_TEST((process.said == ended[0].said));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_shows_in_all) {
  const std::vector<EndedProcess> ended =
      in_processes(2, [&](std::shared_ptr<comm::Communicator> all) {
        const Group group(all);
        Tensor w = own_rows(random_tensor({9, 2}, 2, -1, 1, DType::f32), group).clone();
        if (group.rank() == 1) w.data<float>()[1] = std::nanf("");
        const Tensor x = random_tensor({4, 2}, 1, -1, 1, DType::f32);
        const Tensor loss = linear_cross_entropy(x, w, random_ids({4}, 3, 9), part_of(group, 9));
        return std::string(std::isnan(loss.item()) ? "nan" : "finite");
      });
  for (const EndedProcess& process : ended) BOOST_TEST(process.said == "nan");
}

BOOST_AUTO_TEST_CASE(alone_it_is_the_whole_to_the_bit) {
  const Tensor x = random_tensor({20, 6}, 1, -1, 1, DType::f32), targets = random_ids({20}, 3, 41);
  const Tensor w = random_tensor({41, 6}, 2, -1, 1, DType::f32);
  BOOST_TEST(same_bits(linear_cross_entropy(x, w, targets, {{}, 0, 41}),
                       linear_cross_entropy(x, w, targets)));
  BOOST_TEST(same_bits(linear_nll(x, w, targets, {{}, 0, 41}), linear_nll(x, w, targets)));
}

BOOST_AUTO_TEST_CASE(rows_that_the_vocabulary_does_not_have_are_refused) {
  const std::vector<EndedProcess> ended =
      in_processes(2, [&](std::shared_ptr<comm::Communicator> all) {
        linear_nll(Tensor::zeros({1, 2}), Tensor::zeros({4, 2}), random_ids({1}, 1, 3),
                   {Group(all), 6, 9});
        return std::string();
      });
  for (const EndedProcess& process : ended)
    BOOST_TEST(process.said ==
               "[cross_entropy] expected rows of a vocabulary of 9, got w[4, 2] from row 6 on");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
