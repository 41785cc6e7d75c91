#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "tests/data/tasks/task_words.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_recall)
namespace {

using Words = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(samples_are_those_that_were_written_down) {
  BOOST_TEST(line_of("recall", 3) == "k77 v87 k50 v120 k59 v89 k59 [v89]");
  BOOST_TEST(line_of("recall(keys=4, values=2)", 4) == "k2 v1 k1 v1 k3 v0 k0 v0 k3 [v0]");
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
