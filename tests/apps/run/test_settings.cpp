#include <boost/test/unit_test.hpp>

#include "apps/run/settings.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_settings)

using namespace farfield;
using namespace farfield::run;

BOOST_AUTO_TEST_CASE(settings_read_back_as_written) {
  const Settings settings = {{"posenc", "rope(base=10) + window(3)"}, {"steps", "5"}};
  BOOST_TEST(config_text(settings) == "posenc = rope(base=10) + window(3)\nsteps = 5\n");
  BOOST_CHECK(parse_settings("x", config_text(settings)) == settings);
  BOOST_TEST(value_of(settings, "steps") == "5");
  BOOST_TEST(value_of(settings, "lr") == "");
}

BOOST_AUTO_TEST_CASE(a_line_of_another_form_is_named) {
  BOOST_CHECK_EXCEPTION(parse_settings("r/config.conf", "a = 1\nnonsense\n"), IoError,
                        says("[config] r/config.conf: line 2: expected key = value, got "
                             "'nonsense'"));
}

// Hashes that name cells and results are of it.
BOOST_AUTO_TEST_CASE(text_for_hashes_has_each_value_as_it_is) {
  BOOST_TEST(to_text({{"baseline", ""}, {"text", " a #1"}}) == "baseline = \ntext =  a #1\n");
}

BOOST_AUTO_TEST_CASE(the_first_difference_is_found_on_either_side) {
  const Settings a = {{"x", "1"}, {"y", "2"}, {"z", "3"}};
  BOOST_TEST(first_difference(a, a) == "");
  BOOST_TEST(first_difference(a, {{"x", "1"}, {"y", "9"}, {"z", "9"}}) == "y");
  BOOST_TEST(first_difference(a, {{"x", "1"}, {"y", "2"}}) == "z");
  BOOST_TEST(first_difference({{"x", "1"}}, {{"x", "1"}, {"new", "0"}}) == "new");
  BOOST_TEST(first_difference(without(a, {"y"}),
                              without({{"x", "1"}, {"y", "9"}, {"z", "3"}}, {"y"})) == "");
}

BOOST_AUTO_TEST_SUITE_END()
