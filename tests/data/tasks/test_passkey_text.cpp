#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "data/tasks/passkey_text.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_passkey_text)
namespace {

BOOST_AUTO_TEST_CASE(a_prompt_is_the_published_one) {
  BOOST_TEST(passkey_prompt(122, 102, 4711) ==
             "There is an important info hidden inside a lot of irrelevant text. Find it and "
             "memorize them. I will quiz you about the important information there.\n"
             "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back "
             "again. The grass is\n"
             "The pass key is 4711. Remember it. 4711 is the pass key.\n"
             "The grass is green. \n"
             "What is the pass key? The pass key is");
  BOOST_TEST(passkey_prompt(0, 0, 1) ==
             "There is an important info hidden inside a lot of irrelevant text. Find it and "
             "memorize them. I will quiz you about the important information there.\n"
             "\n"
             "The pass key is 1. Remember it. 1 is the pass key.\n"
             "\n"
             "What is the pass key? The pass key is");
}

BOOST_AUTO_TEST_CASE(garbage_has_its_size_wherever_the_key_is) {
  const size_t bare = passkey_prompt(0, 0, 50'000).size();
  for (const int64_t n : {1, 88, 89, 90, 500, 38'000})
    for (const int64_t before : {int64_t{0}, n / 3, n})
      BOOST_TEST(passkey_prompt(n, before, 50'000).size() == bare + static_cast<size_t>(n));
}

BOOST_AUTO_TEST_CASE(keys_and_places_are_uniform_and_pure) {
  constexpr int kDraws = 4000;
  std::vector<int> places(11), keys(10);
  for (int64_t index = 0; index < kDraws; ++index) {
    const PasskeyDraw drawn = draw_passkey(3, 10, index);
    const PasskeyDraw again = draw_passkey(3, 10, index);
    BOOST_TEST(drawn.key == again.key);
    BOOST_TEST(drawn.n_before == again.n_before);
    BOOST_TEST_REQUIRE((drawn.key >= 1 && drawn.key <= kMostPasskey));
    ++places.at(static_cast<size_t>(drawn.n_before));
    ++keys.at(static_cast<size_t>((drawn.key - 1) / 5000));
  }
  for (const int n : places) BOOST_TEST(std::abs(n - kDraws / 11.0) < 5 * std::sqrt(kDraws / 11.0));
  for (const int n : keys) BOOST_TEST(std::abs(n - kDraws / 10.0) < 5 * std::sqrt(kDraws / 10.0));
  BOOST_TEST(draw_passkey(3, 10, 0).key != draw_passkey(4, 10, 0).key);
  BOOST_TEST(draw_passkey(3, 10, 0).key != draw_passkey(3, 11, 0).key);
  BOOST_TEST(draw_passkey(3, 0, 5).n_before == 0);
}

BOOST_AUTO_TEST_CASE(the_answer_is_the_first_run_of_digits) {
  BOOST_TEST(passkey_answer(" 4711. Remember 12") == "4711");
  BOOST_TEST(passkey_answer("12") == "12");
  BOOST_TEST(passkey_answer("a007,8") == "007");
  BOOST_TEST(passkey_answer("unknown") == "");
  BOOST_TEST(passkey_answer("") == "");
}

BOOST_AUTO_TEST_CASE(bad_numbers_are_refused) {
  const std::string_view where = "[task] bad_argument: pass-key text: expected ";
  const auto refuses = [&](const auto& call, const std::string& message) {
    BOOST_CHECK_EXCEPTION(call(), ConfigError, says_exactly(std::string(where) + message));
  };
  refuses([] { passkey_prompt(-1, 0, 1); }, "0 or more characters of garbage, got -1");
  refuses([] { draw_passkey(0, -1, 0); }, "0 or more characters of garbage, got -1");
  refuses([] { draw_passkey(0, 5, -2); }, "a prompt of index 0 or more, got -2");
  refuses([] { passkey_prompt(5, 6, 1); }, "0 ... 5 characters of garbage before the key, got 6");
  refuses([] { passkey_prompt(5, -1, 1); }, "0 ... 5 characters of garbage before the key, got -1");
  refuses([] { passkey_prompt(5, 5, 0); }, "a key in 1 ... 50000, got 0");
  refuses([] { passkey_prompt(5, 5, 50'001); }, "a key in 1 ... 50000, got 50001");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
