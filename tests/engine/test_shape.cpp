#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <sstream>
#include <vector>

#include "engine/base/error.h"
#include "engine/shape.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_shape)  // ctest: arm64
namespace {

BOOST_AUTO_TEST_CASE(sizes_are_read_from_both_ends) {
  const Shape shape{2, 3, 5};
  BOOST_TEST(shape.rank() == 3);
  BOOST_TEST(shape[0] == 2);
  BOOST_TEST(shape[-1] == 5);
  BOOST_TEST(shape.index(-3) == 0);
  BOOST_TEST(shape.numel() == 30);
  BOOST_TEST(shape.product(1, 3) == 15);
  BOOST_TEST(shape.product(1, 1) == 1);
  BOOST_TEST(std::vector<int64_t>(shape.begin(), shape.end()) == (std::vector<int64_t>{2, 3, 5}),
             boost::test_tools::per_element());
  BOOST_TEST((shape.has_dim(2) && shape.has_dim(-3) && !shape.has_dim(3) && !shape.has_dim(-4)));
}

BOOST_AUTO_TEST_CASE(rank_zero_has_one_element_and_an_empty_dimension_none) {
  BOOST_TEST(Shape{}.numel() == 1);
  BOOST_TEST((Shape{3, 0, 5}).numel() == 0);
}

BOOST_AUTO_TEST_CASE(equal_shapes_are_equal_however_they_were_made) {
  BOOST_TEST((Shape{2, 3}) == (Shape{2, 3, 7}).without(2));
  BOOST_TEST((Shape{2, 3}) == (Shape{2, 9, 3}).without(-2));
  BOOST_TEST((Shape{2, 3}) == (Shape{2, 4}).with(-1, 3));
  BOOST_TEST((Shape{2, 3}) != (Shape{2, 3, 1}));
  BOOST_TEST((Shape{2}) != Shape{});
}

BOOST_AUTO_TEST_CASE(shapes_print_like_lists) {
  BOOST_TEST(concat(Shape{8, 64}, Shape{}, Shape{7}) == "[8, 64][][7]");
}

BOOST_AUTO_TEST_CASE(broadcasting_aligns_the_last_dimensions) {
  BOOST_TEST(broadcast({3, 5}, {5}, "x") == (Shape{3, 5}));
  BOOST_TEST(broadcast({5}, {3, 5}, "x") == (Shape{3, 5}));
  BOOST_TEST(broadcast({4, 1, 5}, {3, 1}, "x") == (Shape{4, 3, 5}));
  BOOST_TEST(broadcast({}, {2}, "x") == (Shape{2}));
  BOOST_TEST(broadcast({0, 1}, {1, 3}, "x") == (Shape{0, 3}));
  BOOST_CHECK_EXCEPTION(broadcast({3, 5}, {3}, "add"), ShapeError,
                        says_exactly("[add] expected shapes that broadcast, got [3, 5] and [3]"));
  BOOST_CHECK_THROW(broadcast({0}, {3}, "add"), ShapeError);
}

BOOST_AUTO_TEST_CASE(impossible_shapes_are_refused) {
  BOOST_CHECK_EXCEPTION((Shape{2, -1}), ShapeError,
                        says_exactly("[shape] expected sizes of 0 or more, got -1"));
  BOOST_CHECK_EXCEPTION((Shape{1, 2, 3, 4, 5, 6, 7}), ShapeError,
                        says_exactly("[shape] expected at most 6 dimensions, got 7"));
  BOOST_CHECK_EXCEPTION((Shape{INT64_MAX, 2}), ShapeError,
                        says_exactly("[shape] the number of elements overflows 64 bits"));
  BOOST_CHECK_EXCEPTION((Shape{2, 3})[2], ShapeError,
                        says_exactly("[shape] expected a dimension of [2, 3], got 2"));
  BOOST_CHECK_EXCEPTION(Shape{}.index(-1), ShapeError,
                        says_exactly("[shape] expected a dimension of [], got -1"));
  BOOST_CHECK_EXCEPTION((Shape{4, 3}).with(0, -2), ShapeError,
                        says_exactly("[shape] expected sizes of 0 or more, got -2"));
  BOOST_CHECK_EXCEPTION((Shape{4, INT64_MAX / 8}).with(0, 16), ShapeError,
                        says_exactly("[shape] the number of elements overflows 64 bits"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
