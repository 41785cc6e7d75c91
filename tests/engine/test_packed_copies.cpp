#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/autograd.h"
#include "engine/base/parallel.h"
#include "engine/ops/matmul.h"
#include "engine/ops/pointwise.h"
#include "engine/optim.h"
#include "engine/packed_copies.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_packed_copies)  // ctest: arm64
namespace {

// y = x w^T, and dx of the sum of all y.
std::vector<Tensor> products_of(const Tensor& x, const Tensor& w) {
  const Tensor leaf = x.clone().set_requires_grad();
  const Tensor y = linear(leaf, w);
  backward(y, Tensor::full(y.shape(), 1, y.dtype()));
  return {y.detach(), leaf.grad()};
}

// What products with a kept w give is what products with a copy of it give.
void check_products(const Tensor& x, const Tensor& w) {
  const std::vector<Tensor> kept = products_of(x, w), fresh = products_of(x, w.clone());
  for (size_t i = 0; i < kept.size(); ++i) BOOST_TEST(same_bits(kept[i], fresh[i]));
}

// More columns than a panel has, and no whole number of vectors.
struct Fixture {
  Tensor w = random_tensor({531, 77}, 1, -1, 1, DType::f32);
  Tensor x = random_tensor({70, 77}, 2, -1, 1, DType::f32);
  Tensor narrow_x = x.to(DType::bf16);
  Fixture() { w.keep_packed(); }

  void check() const {
    for (int i = 0; i < 2; ++i) {  // packs, and takes what is packed
      check_products(x, w);
      check_products(narrow_x, w);
    }
  }
};

BOOST_FIXTURE_TEST_CASE(a_copy_is_packed_once, Fixture) {
  PackedCopies& copies = *w.packed_copies();
  BOOST_TEST(Tensor(w.view({7, 11})).packed_copies() == &copies);
  BOOST_TEST(w.clone().packed_copies() == nullptr);
  int n_packed = 0;
  const PackedCopies::Key key{w.detach().raw_data(), 531, 77, 77, true, nullptr};
  const auto get = [&](int64_t columns) {
    PackedCopies::Key other = key;
    other.columns = columns;
    return copies.get(other, 64, [&](std::byte* to) { to[63] = std::byte(++n_packed); });
  };
  const PackedCopies::Bytes first = get(77);
  BOOST_TEST(get(77) == first);
  BOOST_TEST(get(76) != first);
  BOOST_TEST(n_packed == 2);
  w.data<float>();
  BOOST_TEST(get(77) != first);
  BOOST_TEST(n_packed == 3);
}

BOOST_FIXTURE_TEST_CASE(products_take_it_until_something_is_written, Fixture) {
  check();
  w.data<float>()[3] = 5;
  check();
  w.assign(random_tensor({531, 77}, 3, -1, 1, DType::f32));
  check();
  w.view({4}, 99).data<float>()[0] = -2;
  check();
  w.keep_rounded();  // whose products are packed, too
  check();
  w.assign(random_tensor({531, 77}, 4, -1, 1, DType::f32));
  BOOST_TEST(w.has_rounded());
  check();
  w.set_requires_grad();
  w.set_grad(random_tensor({531, 77}, 5, -1, 1, DType::f32));
  AdamW optimizer({{.name = "w", .value = w}}, {});
  const Tensor one = Tensor::full({}, 1, DType::f64);
  optimizer.step(0.1, {.loss = one, .grad_norm = one, .max_norm = 1});
  BOOST_TEST(w.has_rounded());
  check();
}

BOOST_FIXTURE_TEST_CASE(a_rounded_copy_from_before_is_packed_too, Fixture) {
  const Tensor rounded_first = w.clone();
  rounded_first.keep_rounded();
  rounded_first.keep_packed();
  BOOST_TEST(rounded_first.to(DType::bf16).packed_copies() != nullptr);
  for (int i = 0; i < 2; ++i) check_products(narrow_x, rounded_first);
}

BOOST_FIXTURE_TEST_CASE(the_bytes_that_are_kept_are_counted, Fixture) {
  BOOST_TEST(w.clone().kept_bytes() == 0);
  BOOST_TEST(w.kept_bytes() == 0);
  linear(x, w);
  const int64_t packed = w.kept_bytes();
  BOOST_TEST(packed >= w.size_bytes());
  linear(x, w);
  BOOST_TEST(w.kept_bytes() == packed);
  w.keep_rounded();
  BOOST_TEST(w.kept_bytes() == packed + w.size_bytes() / 2);
  linear(narrow_x, w);
  const int64_t all = w.kept_bytes();
  BOOST_TEST(all >= packed + w.size_bytes());
  BOOST_TEST(w.view({7, 11}).kept_bytes() == all);
}

BOOST_FIXTURE_TEST_CASE(threads_share_it, Fixture) {
  const Tensor expected = linear(x, w.clone());
  std::vector<Tensor> all(16);
  parallel_for(16, [&](int64_t i) { all[static_cast<size_t>(i)] = linear(x, w); });
  for (const Tensor& y : all) BOOST_TEST(same_bits(y, expected));
}

BOOST_FIXTURE_TEST_CASE(it_takes_no_more_memory_than_allowed, Fixture) {
  PackedCopies copies;
  const PackedCopies::Key key{nullptr, 1, 1, 1, false, nullptr};
  const auto nothing = [](std::byte*) {};
  BOOST_TEST(copies.get(key, PackedCopies::kMostBytes + 1, nothing) == nullptr);
  PackedCopies::Bytes kept = copies.get(key, PackedCopies::kMostBytes - 1000, nothing);
  BOOST_TEST(kept != nullptr);
  check();  // without packed copies: the weight's take more
  copies.clear();
  BOOST_TEST(w.packed_copies()->get(key, 2000, nothing) == nullptr);  // somebody has it
  kept = nullptr;
  BOOST_TEST(w.packed_copies()->get(key, 2000, nothing) != nullptr);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
