#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "tests/support/all_close.h"
#include "tests/support/grad_check.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_split_heads)  // ctest: on_cuda
namespace {

const DType kFloats[] = {DType::f64, DType::f32, DType::bf16};

// What split_heads promises, one component at a time, in double.
struct Reference {
  std::vector<double> q, k, v;
};
Reference reference(const Tensor& qkv, int64_t n_h, const Rotation& r) {
  const int64_t n_b = qkv.dim(0), n_t = qkv.dim(1), head_dim = qkv.dim(2) / (3 * n_h);
  const auto in = qkv.to_vector();
  const auto table = [](const Tensor& x) {
    return x.defined() ? x.to_vector() : std::vector<double>();
  };
  const auto cos = table(r.cos), sin = table(r.sin), sq = table(r.scale_q), sk = table(r.scale_k);
  const int64_t half = r.cos.defined() ? r.cos.dim(-1) : 0;
  Reference out;
  for (int part = 0; part < 3; ++part) {
    std::vector<double>& y = part == 0 ? out.q : part == 1 ? out.k : out.v;
    for (int64_t b = 0; b < n_b; ++b)
      for (int64_t h = 0; h < n_h; ++h)
        for (int64_t t = 0; t < n_t; ++t) {
          const auto x = [&](int64_t i) {
            return in[static_cast<size_t>((((b * n_t + t) * n_h + h) * 3 + part) * head_dim + i)];
          };
          for (int64_t i = 0; i < head_dim; ++i) {
            if (part == 2 || i >= 2 * half) {
              y.push_back(x(i));
              continue;
            }
            const int64_t pair = r.interleaved ? i / 2 : i % half;
            const bool is_first = r.interleaved ? i % 2 == 0 : i < half;
            const double a = x(r.interleaved ? 2 * pair : pair);
            const double c = x(r.interleaved ? 2 * pair + 1 : pair + half);
            const auto at =
                static_cast<size_t>(((r.cos.rank() == 3 ? b * n_t : 0) + t) * half + pair);
            const auto& scales = part == 0 ? sq : sk;
            const double scale = scales.empty() ? 1 : scales[at];
            y.push_back(scale * (is_first ? a * cos[at] - c * sin[at] : a * sin[at] + c * cos[at]));
          }
        }
  }
  return out;
}

// The far copies of it: q and k by their own angles, [T, R/2].
Reference far_reference(const Tensor& qkv, int64_t n_h, const Rotation& r) {
  Reference out;
  out.q = reference(qkv, n_h, {r.far.cos_q, r.far.sin_q, {}, {}, r.interleaved}).q;
  out.k = reference(qkv, n_h, {r.far.cos_k, r.far.sin_k, {}, {}, r.interleaved}).k;
  return out;
}

Rotation random_rotation(const Shape& shape, DType dtype, bool scaled, bool interleaved) {
  const Tensor angle = random_tensor(shape, 50, -3, 3);
  Rotation r{cast(cos(angle), dtype), cast(sin(angle), dtype), {}, {}, interleaved};
  if (scaled) {
    r.scale_q = random_tensor(shape, 51, 0.5, 2, dtype);
    r.scale_k = random_tensor(shape, 52, 0.5, 2, dtype);
  }
  return r;
}

Rotation with_far(Rotation r, int64_t n_t, int64_t half, DType dtype) {
  const Tensor q = random_tensor({n_t, half}, 53, -3, 3), k = random_tensor({n_t, half}, 54, -3, 3);
  r.far = {cast(cos(q), dtype), cast(sin(q), dtype), cast(cos(k), dtype), cast(sin(k), dtype)};
  return r;
}

// Every kind of rotation for B 2, T 5, K `head_dim`.
std::vector<Rotation> rotations(int64_t head_dim, DType dtype) {
  std::vector<Rotation> result{{}};
  for (const int64_t half : {head_dim / 2, head_dim / 4})
    for (const Shape& shape : {Shape{5, half}, Shape{2, 5, half}})
      for (const bool interleaved : {false, true}) {
        for (const bool scaled : {false, true})
          result.push_back(random_rotation(shape, dtype, scaled, interleaved));
        result.push_back(
            with_far(random_rotation(shape, dtype, false, interleaved), 5, half, dtype));
      }
  return result;
}

BOOST_AUTO_TEST_CASE(heads_are_split_and_rotated_as_stated) {
  for (const int64_t head_dim : {4, 6, 10, 64}) {
    for (const DType dtype : kFloats) {
      const Tensor qkv = random_tensor({2, 5, 3 * 3 * head_dim}, 1, -1, 1, dtype);
      const Shape shape{2, 3, 5, head_dim};
      const std::vector<Rotation> all = rotations(head_dim, accumulate_dtype(dtype));
      for (size_t i = 0; i < all.size(); ++i) {
        BOOST_TEST_CONTEXT("head_dim " << head_dim << ' ' << dtype << " rotation " << i) {
          const Heads got = split_heads(qkv, 3, all[i]);
          const Reference want = reference(qkv, 3, all[i]);
          const Tolerance tol = tolerance(dtype, Work::pointwise);
          BOOST_TEST(all_close(got.q, Tensor::from(want.q, shape, DType::f64), tol));
          BOOST_TEST(all_close(got.k, Tensor::from(want.k, shape, DType::f64), tol));
          BOOST_TEST(all_close(got.v, Tensor::from(want.v, shape, DType::f64), 0));
          BOOST_TEST(got.far.defined() == all[i].far.cos_q.defined());
          if (!got.far.defined()) continue;
          const Reference far = far_reference(qkv, 3, all[i]);
          BOOST_TEST(all_close(got.far.q, Tensor::from(far.q, shape, DType::f64), tol));
          BOOST_TEST(all_close(got.far.k, Tensor::from(far.k, shape, DType::f64), tol));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(split_gradients_agree_with_differences) {
  const Tensor qkv = random_tensor({2, 5, 3 * 2 * 4}, 1);
  for (const Rotation& r : rotations(4, DType::f64)) {
    BOOST_TEST(gradients_agree(
        [&r](const std::vector<Tensor>& in) {
          const Heads heads = split_heads(in[0], 2, r);
          std::vector<Tensor> out{heads.q, heads.k, heads.v};
          if (heads.far.defined()) out.insert(out.end(), {heads.far.q, heads.far.k});
          return out;
        },
        {qkv}));
  }
}

BOOST_AUTO_TEST_CASE(an_unused_head_tensor_has_gradient_zero) {
  const Tensor qkv = random_tensor({1, 2, 12}, 1);
  const Rotation r = with_far(random_rotation({2, 1}, DType::f64, false, false), 2, 1, DType::f64);
  for (const bool is_far : {false, true})
    BOOST_TEST(gradients_agree(
        [&](const std::vector<Tensor>& in) {
          const Heads heads = split_heads(in[0], 2, r);
          return square(is_far ? heads.far.q : heads.q);
        },
        {qkv}));
  for (int used = 0; used < 3; ++used) {
    BOOST_TEST(gradients_agree(
        [used](const std::vector<Tensor>& in) {
          const Heads heads = split_heads(in[0], 2);
          return square(used == 0 ? heads.q : used == 1 ? heads.k : heads.v);
        },
        {qkv}));
  }
}

BOOST_AUTO_TEST_CASE(the_backward_pass_is_the_transpose_in_every_dtype) {
  const Rotation scaled = random_rotation({5, 32}, DType::f32, true, false);
  const Rotation far =
      with_far(random_rotation({5, 32}, DType::f32, false, true), 5, 32, DType::f32);
  for (const Rotation& r : {scaled, far}) {
    Rotation exact = r;
    for_each_angle(exact, [](Tensor& table) {
      if (table.defined()) table = cast(table, DType::f64);
    });
    const auto gradient = [&](DType dtype) {
      Tensor qkv = Tensor::zeros({2, 5, 3 * 3 * 64}, dtype);
      qkv.set_requires_grad();
      const Heads heads = split_heads(qkv, 3, dtype == DType::f64 ? exact : r);
      std::vector<Tensor> ys, dys;
      for (const Tensor& y : {heads.q, heads.k, heads.v, heads.far.q, heads.far.k}) {
        if (!y.defined()) continue;
        ys.push_back(cast(y, DType::f64));
        dys.push_back(cast(random_tensor(y.shape(), ys.size(), -1, 1, DType::bf16), DType::f64));
      }
      backward(dot(ys, dys));
      return qkv.grad();
    };
    const Tensor want = gradient(DType::f64);
    BOOST_TEST(all_close(gradient(DType::f32), want, tolerance(DType::f32, Work::pointwise)));
    BOOST_TEST(all_close(gradient(DType::bf16), want, tolerance(DType::bf16, Work::pointwise)));
  }
}

BOOST_AUTO_TEST_CASE(a_rotation_keeps_lengths_and_turns_back) {
  const Tensor qkv = random_tensor({1, 7, 3 * 8}, 1);
  for (const bool interleaved : {false, true}) {
    Rotation r = random_rotation({7, 4}, DType::f64, false, interleaved);
    const Tensor q = split_heads(qkv, 1, r).q;
    const Tensor plain = split_heads(qkv, 1).q;
    BOOST_TEST(all_close(sum(square(q), -1), sum(square(plain), -1), 1e-13));
    BOOST_TEST(!all_close(q, plain, 1e-3));
    r.sin = -r.sin;
    const Tensor back = split_heads(reshape(concat({q, q, q}, -1), {1, 7, 24}), 1, r).q;
    BOOST_TEST(all_close(back, plain, 1e-13));
  }
}

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  Tensor qkv = random_tensor({3, 40, 3 * 4 * 32}, 1, -1, 1, DType::f32);
  qkv.set_requires_grad();
  const Rotation r = random_rotation({40, 16}, DType::f32, true, false);
  std::vector<Tensor> want;
  for (const int n : {1, 2, 3}) {
    set_thread_count(n);
    const Heads heads = split_heads(qkv, 4, r);
    backward(sum(square(heads.q) * heads.k + heads.v));
    const std::vector<Tensor> got{heads.q, heads.k, heads.v, qkv.grad()};
    if (want.empty()) want = got;
    for (size_t i = 0; i < got.size(); ++i) BOOST_TEST(same_bits(got[i], want[i]));
    qkv.set_grad({});
  }
}

BOOST_AUTO_TEST_CASE(errors_name_the_op_and_what_came) {
  const Tensor qkv = Tensor::zeros({2, 5, 24});
  BOOST_CHECK_EXCEPTION(
      split_heads(qkv, 3), ShapeError,
      says_exactly("[split_heads] expected qkv [B, T, 3 H K] with H = 3, got [2, 5, 24]"));
  Rotation r = random_rotation({4, 2}, DType::f32, false, false);
  BOOST_CHECK_EXCEPTION(
      split_heads(qkv, 2, r), ShapeError,
      says_exactly(
          "[split_heads] expected cos of shape [T, R/2] or [B, T, R/2] with B = 2, T = 5 and R <= "
          "head_dim = 4, got [4, 2]"));
  r = random_rotation({5, 3}, DType::f32, false, false);
  BOOST_CHECK_THROW(split_heads(qkv, 2, r), ShapeError);
  r = random_rotation({5, 2}, DType::f64, false, false);
  BOOST_CHECK_EXCEPTION(split_heads(qkv, 2, r), DTypeError,
                        says_exactly("[split_heads] expected cos in float32, got float64"));
  r = random_rotation({5, 2}, DType::f32, false, false);
  r.scale_k = Tensor::zeros({5, 1});
  BOOST_CHECK_EXCEPTION(
      split_heads(qkv, 2, r), ShapeError,
      says_exactly("[split_heads] expected scale_k of the shape of cos, [5, 2], got [5, 1]"));
  r.scale_k = Tensor::zeros({5, 2});
  r = with_far(r, 5, 2, DType::f32);
  BOOST_CHECK_EXCEPTION(split_heads(qkv, 2, r), ShapeError,
                        says_exactly("[split_heads] expected no scales beside the tables of far "
                                     "copies, which have none"));
  r.far.sin_k = Tensor::zeros({5, 1});
  BOOST_CHECK_EXCEPTION(split_heads(qkv, 2, r), ShapeError,
                        says_exactly("[split_heads] expected far.sin_k of shape [T, R/2], [5, 2], "
                                     "got [5, 1]"));
  r.far.sin_k = {};
  BOOST_CHECK_EXCEPTION(
      split_heads(qkv, 2, r), ShapeError,
      says_exactly("[split_heads] expected all four tables of the far copies, got some of them"));
  r.far = {};
  r.sin = {};
  BOOST_CHECK_EXCEPTION(
      split_heads(qkv, 2, r), ShapeError,
      says_exactly("[split_heads] expected cos and sin together, got one of them"));
  r.cos = {};
  BOOST_CHECK_EXCEPTION(
      split_heads(qkv, 2, r), ShapeError,
      says_exactly("[split_heads] expected cos and sin with a scale, got a scale alone"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
