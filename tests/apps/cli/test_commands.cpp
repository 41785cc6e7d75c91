#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/cli/commands.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::cli {
BOOST_AUTO_TEST_SUITE(test_commands)
namespace {

int walk(int argc, const char* const* argv, std::ostream& out) {
  out << argv[0] << ' ' << (argc > 1 ? argv[1] : "nowhere");
  return 7;
}

std::string run(std::vector<const char*> words, int code = 0) {
  const std::vector<Command> commands = {{"walk", "goes", walk}, {"swim", "floats", walk}};
  words.insert(words.begin(), "move");
  std::ostringstream out;
  const int got =
      run_command("move", "Moves.", commands, static_cast<int>(words.size()), words.data(), out);
  BOOST_TEST(got == code);
  return out.str();
}

BOOST_AUTO_TEST_CASE(a_command_gets_what_follows_its_name) {
  BOOST_TEST(run({"walk", "home"}, 7) == "walk home");
  BOOST_TEST(run({"swim"}, 7) == "swim nowhere");
}

BOOST_AUTO_TEST_CASE(help_lists_every_command) {
  for (const char* word : {"--help", "-h"}) {
    const std::string help = run({word});
    for (const char* part : {"usage: move COMMAND", "Moves.", "walk        goes", "swim"})
      BOOST_TEST(help.find(part) != std::string::npos, part << " is missing in " << help);
  }
  BOOST_TEST(run({"--version"}).find("move (farfield ") == 0u);
}

BOOST_AUTO_TEST_CASE(another_word_is_refused_with_the_nearest) {
  BOOST_CHECK_EXCEPTION(run({"wallk"}), ConfigError,
                        says_exactly("[move] expected a command out of walk, swim, got 'wallk'; "
                                     "did you mean 'walk'?; see move --help"));
  BOOST_CHECK_EXCEPTION(run({}), ConfigError, says("[move] expected a command out of"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::cli
