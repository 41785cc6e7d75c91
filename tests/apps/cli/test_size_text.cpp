#include <boost/test/unit_test.hpp>

#include "apps/cli/size_text.h"

BOOST_AUTO_TEST_SUITE(test_size_text)

using farfield::cli::size_text;

BOOST_AUTO_TEST_CASE(a_size_has_the_unit_that_makes_it_short) {
  BOOST_TEST(size_text(0) == "0 B");
  BOOST_TEST(size_text(1023) == "1023 B");
  BOOST_TEST(size_text(1024) == "1.0 KiB");
  BOOST_TEST(size_text(1024 * 1024 - 1) == "1.0 MiB");
  BOOST_TEST(size_text(int64_t{5} << 29) == "2.5 GiB");
  BOOST_TEST(size_text(int64_t{1} << 62) == "4194304.0 TiB");
}

BOOST_AUTO_TEST_SUITE_END()
