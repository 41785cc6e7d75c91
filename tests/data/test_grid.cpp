#include <boost/test/unit_test.hpp>

#include "data/grid.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_grid)
namespace {

BOOST_AUTO_TEST_CASE(windows_of_a_row_follow_each_other_to_its_end) {
  for (const int64_t length : {1, 3, 10, 16})
    for (int64_t size = 0; size < 50; ++size) {
      const Grid grid = Grid::windows(size, 0, length);
      BOOST_TEST(grid.size() == (size > 0 ? (size - 1) / length : 0));
      for (int64_t i = 0; i < grid.size(); ++i) BOOST_TEST(grid[i] == i * length);
    }
}

BOOST_AUTO_TEST_CASE(pieces_of_documents_are_all_that_lie_within_one) {
  constexpr int64_t kDocument = 10;
  for (const int64_t size : {0, 5, 11, 33, 40})
    for (int64_t span = 1; span <= 12; ++span)
      for (int64_t step = 1; step <= 4; ++step) {
        std::vector<int64_t> want, got;
        for (int64_t begin = 0; begin + span <= size; ++begin) {
          const int64_t in_document = begin % (kDocument + 1);
          if (in_document % step == 0 && in_document + span <= kDocument) want.push_back(begin);
        }
        const Grid grid(size, kDocument, span, step);
        for (int64_t i = 0; i < grid.size(); ++i) got.push_back(grid[i]);
        BOOST_TEST(got == want, boost::test_tools::per_element());
      }
}

BOOST_AUTO_TEST_CASE(lengths_and_documents_of_any_size_do_not_overflow) {
  BOOST_TEST(Grid::windows(100, 0, INT64_MAX).size() == 0);
  BOOST_TEST(Grid::windows(100, 10, INT64_MAX).size() == 0);
  BOOST_TEST(Grid::windows(100, INT64_MAX - 1, 10).size() == 9);
  BOOST_TEST(Grid::windows(INT64_MAX, 1, 1).size() == 0);
  BOOST_TEST(Grid::windows(INT64_MAX, 2, 1).size() == INT64_MAX / 3);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
