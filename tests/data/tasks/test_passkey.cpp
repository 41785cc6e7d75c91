#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/data/tasks/task_words.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_passkey)
namespace {

using Words = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(samples_are_those_that_were_written_down) {
  BOOST_TEST(line_of("passkey", 16) ==
             "clear KEY 4 0 2 skies birds fly over quiet fields while ASK [4] [0] [2]");
}

BOOST_AUTO_TEST_CASE(the_key_is_at_its_place_and_the_answer_repeats_it) {
  const auto task = make_task("passkey");
  const Words vocabulary = task->vocabulary();
  BOOST_TEST(vocabulary.size() == 28u);
  for (const int64_t length : {8, 9, 16, 64, 512}) {
    for (int64_t index = 0; index < 50; ++index) {
      const TaskSample sample = task->sample(9, "test", length, index);
      const Words words = words_of(*task, sample);
      const size_t n = words.size();
      BOOST_TEST_REQUIRE(n == static_cast<size_t>(length));
      const auto place = static_cast<size_t>(sample.place);
      BOOST_TEST(words.at(place - 1) == "KEY");
      BOOST_TEST(words[n - 4] == "ASK");
      BOOST_TEST(std::count(words.begin(), words.end(), "KEY") == 1);
      BOOST_TEST(std::count(words.begin(), words.end(), "ASK") == 1);
      Words garbage;
      for (size_t i = 0; i < n; ++i) {
        BOOST_TEST(sample.is_answer[i] == (i >= n - 3 ? 1 : 0));
        if (i + 1 < place || (i >= place + 3 && i < n - 4)) garbage.push_back(words[i]);
      }
      for (size_t k = 0; k < 3; ++k) {
        BOOST_TEST(words[n - 3 + k] == words[place + k]);
        BOOST_TEST((words[place + k] >= "0" && words[place + k] <= "9"));
      }
      // each word is followed by its successor in the sentence, across the key too
      BOOST_TEST(garbage.size() == n - 8);
      for (size_t i = 0; i < garbage.size(); ++i) {
        const auto id = std::find(vocabulary.begin(), vocabulary.end(), garbage[i]);
        BOOST_TEST((id - vocabulary.begin() < 16));
        if (i > 0 && garbage[i - 1] != "fields") BOOST_TEST(garbage[i - 1] == *(id - 1));
        if (i > 0 && garbage[i - 1] == "fields") BOOST_TEST(garbage[i] == "while");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(places_digits_and_beginnings_are_uniform) {
  const auto task = make_task("passkey");
  constexpr int kSamples = 4000;
  std::vector<int> places(25), digits(10), words(16);
  for (int64_t index = 0; index < kSamples; ++index) {
    const TaskSample sample = task->sample(9, "train", 32, index);
    ++places.at(static_cast<size_t>(sample.place - 1));
    for (size_t k = 0; k < 3; ++k) ++digits.at(static_cast<size_t>(sample.tokens[29 + k] - 16));
    if (sample.place > 1) ++words.at(static_cast<size_t>(sample.tokens[0]));
  }
  const auto check = [](const std::vector<int>& counts, double n) {
    const double want = n / static_cast<double>(counts.size());
    for (const int count : counts) BOOST_TEST(std::abs(count - want) < 5 * std::sqrt(want));
  };
  check(places, kSamples);
  check(digits, 3 * kSamples);
  check(words, kSamples * 24 / 25.0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
