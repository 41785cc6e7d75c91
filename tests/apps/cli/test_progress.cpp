#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/duration.h"
#include "apps/cli/progress.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_progress)

using namespace farfield;
using namespace farfield::cli;

BOOST_AUTO_TEST_CASE(a_pipe_gets_plain_lines_of_what_is_kept) {
  std::ostringstream out;
  {
    Progress progress(out, false);
    progress.update(1, 3, "step 1", false);
    progress.update(2, 3, "step 2", true);
    progress.update(3, 3, "step 3", true);
    progress.say("done");
  }
  BOOST_TEST(out.str().find("step 1") == std::string::npos);
  BOOST_TEST(out.str().find("step 2, 0 s left\n") == 0);
  BOOST_TEST(out.str().find("step 3\ndone\n") != std::string::npos);
  BOOST_TEST(out.str().find('\r') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_one_line_rewritten) {
  std::ostringstream out;
  {
    Progress progress(out, true);
    progress.update(1, 3, "step 1", true);
    progress.update(2, 3, "step 2", true);  // too soon after the first
    progress.update(3, 3, "step 3", false);
  }
  BOOST_TEST(out.str() == "step 1\r\x1b[Kstep 3\n");
}

BOOST_AUTO_TEST_CASE(durations_read_well) {
  BOOST_TEST(duration(45.4) == "45 s");
  BOOST_TEST(duration(200) == "3 min 20 s");
  BOOST_TEST(duration(7500) == "2 h 05 min");
  BOOST_TEST(seconds_of_duration("sweep", "--time-limit", "90") == 90);
  BOOST_TEST(seconds_of_duration("sweep", "--time-limit", "8m") == 480);
  BOOST_TEST(seconds_of_duration("sweep", "--time-limit", "1h30m") == 5400);
  BOOST_TEST(seconds_of_duration("sweep", "--time-limit", "1d1s") == 86401);
  for (const char* const bad :
       {"", "0", "0m", "-1m", "m", "8 m", "8x", "30m1h", "1m1m", "1.5h", "99999999999999999999"})
    BOOST_CHECK_EXCEPTION(
        seconds_of_duration("sweep", "--time-limit", bad), ConfigError,
        says("[sweep] --time-limit: expected a time such as 90s, 8m or 1h30m, got '"));
}

BOOST_AUTO_TEST_SUITE_END()
