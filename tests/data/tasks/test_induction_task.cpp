#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "tests/data/tasks/task_words.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_induction_task)
namespace {

// Samples of all lengths near the shortest, and of long ones.
template <class F>
void for_samples(const Task& task, int64_t passage, const F& f) {
  std::vector<int64_t> lengths = {64, 100, 512};
  for (int64_t n = 2 * passage; n < 6 * passage; ++n) lengths.push_back(n);
  for (const int64_t length : lengths)
    for (int64_t index = 0; index < 20; ++index) f(length, task.sample(5, "train", length, index));
}

BOOST_AUTO_TEST_CASE(samples_are_those_that_were_written_down) {
  BOOST_TEST(line_of("induction", 17) ==
             "19 9 24 25 15 11 8 26 19 9 24 25 [15] [11] [8] [26] [19]");
  BOOST_TEST(line_of("induction(symbols=4, passage=3, cue=1)", 12) ==
             "0 3 2 0 [3] [2] 1 1 2 1 [1] [2]");
}

BOOST_AUTO_TEST_CASE(passages_come_again_whole) {
  for (const auto& [text, passage, cue] :
       {std::tuple("induction", 8, 3), {"induction(passage=5, cue=4)", 5, 4}}) {
    const auto task = make_task(text);
    for_samples(*task, passage, [&](int64_t length, const TaskSample& sample) {
      BOOST_TEST_REQUIRE(sample.tokens.size() == static_cast<size_t>(length));
      BOOST_TEST(sample.is_answer.back() == 1);
      BOOST_TEST(sample.place == -1);
      for (int64_t t = 0; t < length; ++t) {
        const auto at = static_cast<size_t>(t);
        BOOST_TEST((sample.is_answer[at] != 0) == (sample.sources[at] >= 0));
        if (sample.sources[at] < 0) continue;
        const int64_t distance = t - sample.sources[at];
        BOOST_TEST(distance >= passage);
        // The cue before the answers, too.
        for (int64_t i = 0; i <= cue; ++i)
          BOOST_TEST(sample.tokens[static_cast<size_t>(t - i)] ==
                     sample.tokens[static_cast<size_t>(t - distance - i)]);
      }
    });
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_repeated_twice_and_no_repetition_is_repeated) {
  const auto task = make_task("induction");
  for_samples(*task, 8, [&](int64_t length, const TaskSample& sample) {
    std::set<int32_t> sources;
    for (int64_t t = 0; t < length; ++t) {
      const int32_t source = sample.sources[static_cast<size_t>(t)];
      if (source < 0) continue;
      BOOST_TEST(sources.insert(source).second);
      BOOST_TEST(sample.sources[static_cast<size_t>(source)] == -1);
    }
  });
}

BOOST_AUTO_TEST_CASE(distances_are_short_and_long) {
  const auto task = make_task("induction");
  std::vector<int> tenths(10);
  for (int64_t index = 0; index < 200; ++index) {
    const TaskSample sample = task->sample(5, "test", 512, index);
    for (size_t t = 0; t < 512; ++t)
      if (sample.sources[t] >= 0) ++tenths[(t - static_cast<size_t>(sample.sources[t])) * 10 / 512];
  }
  for (size_t i = 0; i < 7; ++i) BOOST_TEST(tenths[i] > 100, i);
}

BOOST_AUTO_TEST_CASE(a_cue_leaves_something_to_answer) {
  BOOST_CHECK_EXCEPTION(make_task("induction(cue=8)"), ConfigError,
                        says("expected a cue shorter than the passage of 8 symbols, got 8"));
  BOOST_CHECK_THROW(make_task("induction")->sample(1, "test", 15, 0), ConfigError);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
