#include <boost/test/unit_test.hpp>

#include "tests/support/packed_attention.h"

namespace farfield::test::packed {
BOOST_AUTO_TEST_SUITE(test_attention_packed_long)

// Several chunks and groups of a head; in bfloat16 more heads than are summed at a time, of which
// the last have begun a sequence.
BOOST_AUTO_TEST_CASE(long_sequences_give_the_bits_of_copies) {
  check_heads_where_they_lie(Device{}, {{"long", {25, 3, 450, 450, 64}, add_tables}});
  check_heads_turned_where_they_lie(
      Device{}, {{"long", {25, 3, 450, 450, 64}, 32, false, false, false, [](auto&) {}}});
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test::packed
