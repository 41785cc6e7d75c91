#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "engine/distributed/tree_sum.h"
#include "engine/ops/pointwise.h"

BOOST_AUTO_TEST_SUITE(test_tree_sum)

using namespace farfield;

namespace {

std::string shape_of(int64_t first, int64_t n) {
  if (n == 1) return std::to_string(first);
  return '(' + shape_of(first, n / 2) + ' ' + shape_of(first + n / 2, n - n / 2) + ')';
}

// What the stack makes of n pieces.
std::string summed(int64_t n) {
  const PieceTree tree(n);
  std::vector<std::string> stack;
  for (int64_t piece = 0; piece < n; ++piece) {
    std::string sum = std::to_string(piece);
    for (int64_t i = 0; i < tree.n_closed(piece); ++i) {
      sum = '(' + stack.back() + ' ' + sum + ')';
      stack.pop_back();
    }
    BOOST_TEST(tree.is_last(piece) == (piece + 1 == n));
    stack.push_back(sum);
  }
  BOOST_TEST(stack.size() == 1u);
  return stack.back();
}

float value_of(int64_t piece) {
  return std::ldexp(1.0f + 0.1f * static_cast<float>(piece), static_cast<int>(piece * 7 % 20));
}

float tree_sum(int64_t first, int64_t n) {
  if (n == 1) return value_of(first);
  return tree_sum(first, n / 2) + tree_sum(first + n / 2, n - n / 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_stack_makes_the_tree_of_halves) {
  BOOST_TEST(summed(4) == "((0 1) (2 3))");
  BOOST_TEST(summed(6) == "((0 (1 2)) (3 (4 5)))");
  for (int64_t n = 1; n <= 33; ++n) BOOST_TEST(summed(n) == shape_of(0, n));
}

BOOST_AUTO_TEST_CASE(tensors_are_summed_in_that_order) {
  for (int64_t n = 1; n <= 17; ++n) {
    const PieceTree tree(n);
    TreeSum sum;
    Tensor total;
    for (int64_t piece = 0; piece < n; ++piece) {
      BOOST_TEST(!total.defined());
      total = sum.add(tree, piece, Tensor::full({3}, value_of(piece)));
    }
    BOOST_TEST(total.data<float>()[2] == tree_sum(0, n));
  }
}

BOOST_AUTO_TEST_CASE(what_was_added_to_the_left_sum_is_not_added_again) {
  const PieceTree tree(8);
  TreeSum sum;
  Tensor total;
  for (int64_t piece = 0; piece < 8; ++piece) {
    Tensor x = Tensor::full({3}, value_of(piece));
    if (tree.n_closed(piece) > 0 && piece != 5) x = sum.take_left() + x;
    total = sum.add(tree, piece, x);
  }
  BOOST_TEST(total.data<float>()[2] == tree_sum(0, 8));
}

BOOST_AUTO_TEST_CASE(a_sum_that_others_hold_or_that_is_none_is_not_given_away) {
  const PieceTree tree(2);
  TreeSum held, none;
  const Tensor first = Tensor::full({1}, 1);
  held.add(tree, 0, first);
  none.add(tree, 0, {});
  BOOST_TEST(!held.take_left().defined());
  BOOST_TEST(!none.take_left().defined());
  BOOST_TEST(held.add(tree, 1, Tensor::full({1}, 2)).item() == 3);
  BOOST_TEST(!std::signbit(none.add(tree, 1, Tensor::full({1}, -0.0)).item()));
}

BOOST_AUTO_TEST_CASE(none_counts_as_zeros_where_another_piece_has_some) {
  const PieceTree tree(4);
  TreeSum none, one;
  Tensor of_none, of_one;
  for (int64_t piece = 0; piece < 4; ++piece) {
    of_none = none.add(tree, piece, {});
    of_one = one.add(tree, piece, piece == 2 ? Tensor::full({1}, -0.0) : Tensor());
  }
  BOOST_TEST(!of_none.defined());
  BOOST_TEST(!std::signbit(of_one.item()));  // as -0 + 0 between processes
}

BOOST_AUTO_TEST_CASE(a_tensor_that_others_hold_is_left_as_it_is) {
  const PieceTree tree(2);
  TreeSum sum;
  const Tensor first = Tensor::full({1}, 1), second = Tensor::full({1}, 2);
  sum.add(tree, 0, first);
  BOOST_TEST(sum.add(tree, 1, second).item() == 3);
  BOOST_TEST(first.item() == 1);
  BOOST_TEST(second.item() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
