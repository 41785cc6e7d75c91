#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "tests/data/tasks/task_words.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_recall)
namespace {

using Words = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(samples_are_those_that_were_written_down) {
  BOOST_TEST(line_of("recall", 3) == "k77 v87 k50 v120 k59 v89 k59 [v89]");
  BOOST_TEST(line_of("recall(keys=4, values=2)", 4) == "k2 v1 k1 v1 k3 v0 k0 v0 k3 [v0]");
  BOOST_TEST(line_of("recall(keys=4, values=2, questions=2)", 4) ==
             "k2 v1 k1 v1 k3 v0 k0 v0 k3 [v0] k1 [v1]");
  BOOST_TEST(line_of("recall(keys=4, values=2, form=joined)", 4) == "k2v1 k1v1 k3v0 k0v0 k3 [v0]");
}

// The pairs and questions of a line, whatever its form: "k1 v2 k3 v0; k3 v0".
std::string read_back(const Words& words, int64_t n_pair, bool is_joined) {
  std::string text;
  const auto n_word = static_cast<size_t>(is_joined ? n_pair : 2 * n_pair);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    const size_t value = word.find('v', 1);
    if (value != std::string::npos) word.insert(value, " ");
    text += (i == 0 ? "" : i == n_word ? "; " : " ") + word;
  }
  return text;
}

BOOST_AUTO_TEST_CASE(joined_pairs_are_those_of_two_tokens) {
  for (const char* questions : {"1", "3"}) {
    const std::string options = concat("recall(keys=16, values=5, questions=", questions);
    const auto separate = make_task(options + ")"), joined = make_task(options + ", form=joined)");
    for (const int64_t length : {1, 3, 16})
      for (int64_t index = 0; index < 20; ++index) {
        const TaskSample two = separate->sample(11, "train", length, index),
                         one = joined->sample(11, "train", length, index);
        BOOST_TEST(read_back(words_of(*separate, two), length, false) ==
                   read_back(words_of(*joined, one), length, true));
        BOOST_TEST(one.tokens.size() == static_cast<size_t>(joined->tokens_of(length)));
        BOOST_TEST(two.tokens.size() - one.tokens.size() == static_cast<size_t>(length));
        BOOST_TEST(two.place == (one.place < 0 ? -1 : 2 * one.place));
      }
  }
}

BOOST_AUTO_TEST_CASE(questions_have_different_keys_and_all_their_values_count) {
  const auto task = make_task("recall(questions=6)"), first = make_task("recall");
  for (const int64_t length : {1, 4, 6, 20})
    for (int64_t index = 0; index < 30; ++index) {
      const TaskSample sample = task->sample(11, "test", length, index);
      const Words words = words_of(*task, sample);
      const auto n = static_cast<size_t>(2 * length);
      BOOST_TEST_REQUIRE(words.size() == n + 2 * std::min<size_t>(6, n / 2));
      std::map<std::string, std::string> values;
      for (size_t i = 0; i < n; i += 2) values[words[i]] = words[i + 1];
      for (size_t i = 0; i < words.size(); ++i)
        BOOST_TEST(sample.is_answer[i] == (i > n && i % 2 == 1 ? 1 : 0));
      for (size_t i = n; i < words.size(); i += 2) {
        BOOST_TEST_REQUIRE(values.count(words[i]) == 1);  // asked for once
        BOOST_TEST(words[i + 1] == values.at(words[i]));
        BOOST_TEST(words.at(static_cast<size_t>(sample.sources[i + 1])) == words[i + 1]);
        values.erase(words[i]);
      }
      BOOST_TEST(sample.place == (length == 1 ? 0 : -1));
      const Words alone = words_of(*first, first->sample(11, "test", length, index));
      BOOST_TEST(Words(words.begin(), words.begin() + static_cast<ptrdiff_t>(n) + 2) == alone,
                 boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(the_answer_is_the_value_of_the_key_that_is_asked_for) {
  for (const char* text : {"recall", "recall(keys=64, values=3)"}) {
    const auto task = make_task(text);
    for (const int64_t length : {1, 2, 8, 64}) {
      for (int64_t index = 0; index < 50; ++index) {
        const TaskSample sample = task->sample(11, "train", length, index);
        const Words words = words_of(*task, sample);
        std::map<std::string, std::string> values;
        const auto n = static_cast<size_t>(length);
        BOOST_TEST_REQUIRE(words.size() == 2 * n + 2);
        for (size_t i = 0; i < n; ++i) {
          BOOST_TEST(words[2 * i][0] == 'k');
          BOOST_TEST(words[2 * i + 1][0] == 'v');
          values[words[2 * i]] = words[2 * i + 1];
        }
        BOOST_TEST(values.size() == n);  // no key twice
        BOOST_TEST(words[2 * n + 1] == values.at(words[2 * n]));
        BOOST_TEST(words.at(static_cast<size_t>(sample.place)) == words[2 * n]);
        for (size_t i = 0; i < words.size(); ++i)
          BOOST_TEST(sample.is_answer[i] == (i == 2 * n + 1 ? 1 : 0));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(keys_values_and_questions_are_uniform) {
  const auto task = make_task("recall(keys=10, values=4)");
  constexpr int kSamples = 3000;
  std::map<std::string, int> first_keys, last_keys, values;
  std::map<int64_t, int> places;
  for (int64_t index = 0; index < kSamples; ++index) {
    const TaskSample sample = task->sample(11, "test", 5, index);
    const Words words = words_of(*task, sample);
    ++first_keys[words[0]];
    ++last_keys[words[8]];
    ++values[words[9]];
    ++places[sample.place];
  }
  const auto check = [](const auto& counts, size_t n_kind) {
    BOOST_TEST(counts.size() == n_kind);
    const double want = kSamples / static_cast<double>(n_kind);
    for (const auto& entry : counts)
      BOOST_TEST(std::abs(entry.second - want) < 5 * std::sqrt(want));
  };
  check(first_keys, 10);
  check(last_keys, 10);
  check(values, 4);
  check(places, 5);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
