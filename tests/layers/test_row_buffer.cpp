#include <boost/test/unit_test.hpp>

#include "engine/ops/view.h"
#include "layers/row_buffer.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_row_buffer)  // ctest: sanitize
namespace {

Tensor rows_of(const RowBuffer& buffer) {
  return slice(buffer.storage(), 2, buffer.begin(), buffer.end());
}

// Rows come in pieces of these sizes; behind each, all but `kept` of the last rows are dropped, and
// the first `first` stay.
void compare(const Shape& shape, const std::vector<int64_t>& sizes, int64_t first, int64_t kept) {
  RowBuffer buffer(1000);
  Tensor want;
  uint64_t seed = 1;
  for (const int64_t n : sizes) {
    const Tensor fresh = random_tensor(shape.with(2, n), seed++);
    want = want.defined() ? concat({want, fresh}, 2) : fresh;
    buffer.append(fresh);
    BOOST_TEST(same_bits(rows_of(buffer), want));
    const int64_t n_row = want.dim(2);
    BOOST_TEST(buffer.size_bytes() == want.size_bytes());
    if (n_row <= first + kept) continue;
    const Tensor seen = buffer.storage(), before = seen.clone();
    buffer.drop(first, n_row - kept);
    BOOST_TEST(same_bits(seen, before), "a caller may still read what it was given");
    want = concat({slice(want, 2, 0, first), slice(want, 2, n_row - kept, n_row)}, 2);
    BOOST_TEST(buffer.size_bytes() == want.size_bytes());
    BOOST_TEST(buffer.storage().dim(2) <= 4 * (first + kept) + n);
  }
}

BOOST_AUTO_TEST_CASE(repeated_rows_go_on_by_themselves) {
  const Shape one{1, 2, 5, 3}, three{3, 2, 4, 3};
  RowBuffer buffer(1000);
  const Tensor first = random_tensor(one, 1), next = random_tensor(three, 2);
  buffer.append(first);
  const Tensor seen = buffer.storage(), before = seen.clone();
  buffer.repeat(3);
  BOOST_TEST(same_bits(rows_of(buffer), concat({first, first, first}, 0)));
  buffer.append(next);
  BOOST_TEST(same_bits(rows_of(buffer), concat({concat({first, first, first}, 0), next}, 2)));
  BOOST_TEST(same_bits(seen, before));
  RowBuffer empty(1000);
  empty.repeat(3);
  empty.append(next);
  BOOST_TEST(same_bits(rows_of(empty), next));
}

BOOST_AUTO_TEST_CASE(rows_are_those_that_were_added_and_not_dropped) {
  const std::vector<int64_t> ones(40, 1);
  for (const Shape& shape : {Shape{1, 1, 1, 4}, Shape{2, 3, 1, 4}})
    for (const auto& [first, kept] :
         {std::pair<int64_t, int64_t>{0, 5}, {2, 5}, {3, 1}, {0, 1000}}) {
      compare(shape, ones, first, kept);
      compare(shape, {30, 1, 1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 30, 1}, first, kept);
    }
}

BOOST_AUTO_TEST_CASE(rows_are_added_in_place) {
  RowBuffer buffer(100);
  const Tensor one = random_tensor({2, 3, 1, 4}, 1);
  buffer.append(random_tensor({2, 3, 9, 4}, 1));
  const void* const place = static_cast<const Tensor&>(buffer.storage()).raw_data();
  for (int i = 0; i < 9; ++i) buffer.append(one);
  BOOST_TEST(static_cast<const Tensor&>(buffer.storage()).raw_data() == place);
}

BOOST_AUTO_TEST_CASE(room_ends_where_no_row_can_come) {
  RowBuffer buffer(12);
  buffer.append(random_tensor({1, 1, 10, 4}, 1));
  BOOST_TEST(buffer.storage().dim(2) == 12);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
