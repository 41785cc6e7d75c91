#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/error.h"
#include "tests/data/tasks/task_words.h"
#include "tests/support/messages.h"

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

// Without its landmarks a sample is one of the same numbers without the option.
BOOST_AUTO_TEST_CASE(a_landmark_stands_after_every_block) {
  for (const int64_t block : {1, 2, 3, 7, 15, 50}) {
    const auto task = make_task(concat("passkey(landmark=", block, ')'));
    BOOST_TEST(task->vocabulary().size() == 29u);
    BOOST_TEST(task->vocabulary().back() == "LANDMARK");
    for (const int64_t length : {15, 16, 17, 64, 65, 200})
      for (int64_t index = 0; index < 50; ++index) {
        const TaskSample sample = task->sample(9, "test", length, index);
        const Words words = words_of(*task, sample);
        BOOST_TEST_REQUIRE(words.size() == static_cast<size_t>(length));
        Words answers, key, others;
        for (size_t m = 0; m < words.size(); ++m) {
          const bool is_landmark = m % static_cast<size_t>(block + 1) == static_cast<size_t>(block);
          BOOST_TEST((words[m] == "LANDMARK") == is_landmark);
          if (is_landmark) BOOST_TEST(!(sample.is_answer[m] || sample.is_output[m]));
          if (is_landmark) continue;
          if (sample.is_answer[m]) answers.push_back(words[m]);
          if (m >= static_cast<size_t>(sample.place) && key.size() < 3) key.push_back(words[m]);
          if (sample.sources[m] >= 0)
            BOOST_TEST(words.at(static_cast<size_t>(sample.sources[m])) == words[m]);
          others.push_back(words[m]);
        }
        BOOST_TEST(answers == key, boost::test_tools::per_element());
        BOOST_TEST(answers.size() == 3u);
        BOOST_TEST(others.at(others.size() - 4) == "ASK");
        const auto at = std::find(others.begin(), others.end(), "KEY");
        BOOST_TEST_REQUIRE((at != others.end()));
        BOOST_TEST(Words(at + 1, at + 4) == key, boost::test_tools::per_element());
      }
  }
}

BOOST_AUTO_TEST_CASE(a_sample_with_landmarks_is_the_one_that_was_written_down) {
  BOOST_TEST(line_of("passkey(landmark=3)", 17) ==
             "runs past old LANDMARK hills KEY 0 LANDMARK 9 7 under LANDMARK ASK [0] [9] LANDMARK "
             "[7]");
  BOOST_TEST(line_of("passkey(landmark=7)", 16) ==
             "clear KEY 4 0 2 skies birds LANDMARK fly over quiet ASK [4] [0] [2] LANDMARK");
}

// The key lies anywhere, a landmark between its digits or none.
BOOST_AUTO_TEST_CASE(places_between_landmarks_are_uniform) {
  const auto task = make_task("passkey(landmark=3)");
  constexpr int kSamples = 4000;
  std::vector<int> places(32);
  for (int64_t index = 0; index < kSamples; ++index)
    ++places.at(static_cast<size_t>(task->sample(9, "train", 32, index).place));
  int n_place = 0;
  for (size_t i = 0; i < places.size(); ++i) n_place += places[i] > 0;
  BOOST_TEST(n_place == 17);  // 16 words of 24 others may stand before
  for (const int count : places)
    if (count > 0) BOOST_TEST(std::abs(count - kSamples / 17.0) < 5 * std::sqrt(kSamples / 17.0));
}

BOOST_AUTO_TEST_CASE(none_is_the_task_without_the_option) {
  BOOST_TEST(make_task("passkey(landmark=none)")->canonical() == "passkey");
  BOOST_TEST(make_task("passkey(landmark=007)")->canonical() == "passkey(landmark=7)");
  BOOST_TEST(line_of("passkey(landmark=none)", 40) == line_of("passkey", 40));
  BOOST_TEST(line_of("passkey(landmark=50)", 40) == line_of("passkey", 40));
  BOOST_CHECK_EXCEPTION(
      make_task("passkey(landmark=0)"), ConfigError,
      says("[task] bad_argument: passkey: landmark: expected none or a whole number in 1 ... "
           "999999, got '0'"));
  BOOST_CHECK_EXCEPTION(make_task("passkey(landmark=3)")->tokens_of(9), ConfigError,
                        says("expected a length in 10 ... 1000000, got 9"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
