#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/options.h"
#include "apps/prepare/program.h"

namespace farfield::prepare {
BOOST_AUTO_TEST_SUITE(test_prepare_program)
namespace {

BOOST_AUTO_TEST_CASE(without_a_command_it_makes_a_corpus) {
  std::ostringstream out;
  const char* const words[] = {"prepare", "--help"};
  BOOST_TEST(prepare_program(2, words, out) == cli::kDone);
  BOOST_TEST(out.str().find("Turns text into a corpus") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::prepare
