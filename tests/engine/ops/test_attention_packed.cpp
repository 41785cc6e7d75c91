#include <boost/test/unit_test.hpp>

#include "tests/support/packed_attention.h"

namespace farfield::test::packed {
BOOST_AUTO_TEST_SUITE(test_attention_packed)  // ctest: sanitize arm64

BOOST_AUTO_TEST_CASE(heads_where_they_lie_give_the_bits_of_copies) {
  check_heads_where_they_lie(Device{});
}
BOOST_AUTO_TEST_CASE(heads_turned_where_they_lie_give_the_bits_of_copies) {
  check_heads_turned_where_they_lie(Device{});
}
BOOST_AUTO_TEST_CASE(only_who_hands_heads_over_has_them_turned) {
  check_who_hands_heads_over(Device{});
}
BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) { check_refusals(Device{}); }

BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test::packed
