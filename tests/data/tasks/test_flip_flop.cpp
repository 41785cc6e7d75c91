#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "tests/data/tasks/task_words.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_flip_flop)
namespace {

using Words = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(samples_are_those_that_were_written_down) {
  BOOST_TEST(line_of("flip_flop(p_i=0.4)", 16) == "w 1 r [1] w 0 w 0 r [0] i 0 r [0] r [0]");
  BOOST_TEST(line_of("flip_flop(form=drift)", 20) ==
             "w 1 w 0 i 0 r [0] r [0] i 1 i 0 r [0] i 1 r [0]");
  BOOST_TEST(line_of("flip_flop(p_i=[0, 1])", 8) == "w 1 w 1 r [1] r [1]");
}

// Looks backwards from each r, where the task carries a bit forward.
void check_reads(const Task& task, const TaskSample& sample) {
  const Words words = words_of(task, sample);
  BOOST_TEST_REQUIRE(words.size() >= 4u);
  BOOST_TEST(words[0] == "w");
  BOOST_TEST(words[words.size() - 2] == "r");
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_bit = words[i] == "0" || words[i] == "1";
    BOOST_TEST(is_bit == (i % 2 == 1));
    const bool is_read = is_bit && words[i - 1] == "r";
    BOOST_TEST((sample.is_answer[i] == 1) == is_read);
    if (!is_read) continue;
    size_t at = i - 1;
    while (words[at] != "w") at -= 2;
    BOOST_TEST(words[i] == words[at + 1]);
    BOOST_TEST(sample.sources[i] == static_cast<int32_t>(at + 1));
  }
}

BOOST_AUTO_TEST_CASE(a_read_gives_the_bit_of_the_last_write) {
  for (const char* text :
       {"flip_flop", "flip_flop(p_i=0.1)", "flip_flop(p_i=0.98)", "flip_flop(p_i=[0.9, 0.98, 0.1])",
        "flip_flop(p_i=0)", "flip_flop(p_i=1)"}) {
    const auto task = make_task(text);
    for (const int64_t length : {4, 6, 64, 512})
      for (int64_t index = 0; index < 30; ++index)
        check_reads(*task, task->sample(4, "test", length, index));
  }
}

BOOST_AUTO_TEST_CASE(instructions_and_bits_have_their_shares) {
  const auto task = make_task("flip_flop(p_i=0.7)");
  std::map<std::string, double> n_instruction, n_free_one, n_free;
  double n = 0;
  for (int64_t index = 0; index < 200; ++index) {
    const Words words = words_of(*task, task->sample(4, "train", 128, index));
    for (size_t i = 2; i + 2 < words.size(); i += 2) {
      ++n;
      ++n_instruction[words[i]];
      ++n_free[words[i]];
      n_free_one[words[i]] += words[i + 1] == "1" ? 1 : 0;
    }
  }
  for (const auto& [word, share] :
       std::map<std::string, double>{{"w", 0.15}, {"r", 0.15}, {"i", 0.7}})
    BOOST_TEST(std::abs(n_instruction[word] - share * n) < 5 * std::sqrt(share * (1 - share) * n),
               word);
  for (const char* word : {"w", "i"})
    BOOST_TEST(std::abs(n_free_one[word] - n_free[word] / 2) < 5 * std::sqrt(n_free[word] / 4),
               word);
}

BOOST_AUTO_TEST_CASE(a_sequence_of_a_mixture_takes_one_of_its_probabilities) {
  const auto task = make_task("flip_flop(p_i=[0, 1, 0.5])");
  int n_none = 0, n_all = 0, n_some = 0;
  for (int64_t index = 0; index < 600; ++index) {
    const Words words = words_of(*task, task->sample(4, "train", 128, index));
    const auto n = std::count(words.begin(), words.end(), "i");
    (n == 0 ? n_none : n == 62 ? n_all : n_some) += 1;
    BOOST_TEST((n == 0 || n == 62 || (n > 10 && n < 52)));
  }
  for (const int n : {n_none, n_all, n_some}) BOOST_TEST(std::abs(n - 200) < 58);  // 5 deviations
}

BOOST_AUTO_TEST_CASE(drift_has_two_writes_of_different_bits) {
  const auto task = make_task("flip_flop(form=drift)");
  double n_read = 0, n = 0;
  for (const int64_t length : {20, 64, 834}) {
    const auto second = static_cast<size_t>(2 * (length / 20));
    for (int64_t index = 0; index < 40; ++index) {
      const TaskSample sample = task->sample(4, "test", length, index);
      check_reads(*task, sample);
      const Words words = words_of(*task, sample);
      BOOST_TEST(std::count(words.begin(), words.end(), "w") == 2);
      BOOST_TEST(words[second] == "w");
      BOOST_TEST(words[second + 1] != words[1]);
      if (length == 834) BOOST_TEST(second == 82u);
      for (size_t i = 2; i + 2 < words.size(); i += 2) {
        if (i == second) continue;
        ++n;
        n_read += words[i] == "r" ? 1 : 0;
      }
    }
  }
  BOOST_TEST(std::abs(n_read - n / 2) < 5 * std::sqrt(n / 4));
}

BOOST_AUTO_TEST_CASE(a_noisy_loss_trains_on_all_tokens_and_is_tested_on_reads) {
  const auto clean = make_task("flip_flop"), noisy = make_task("flip_flop(loss=noisy)");
  for (int64_t index = 0; index < 10; ++index) {
    const TaskSample train = noisy->sample(4, "train", 32, index);
    BOOST_TEST(train.tokens == clean->sample(4, "train", 32, index).tokens);
    BOOST_TEST(train.is_answer[0] == 0);
    BOOST_TEST(std::count(train.is_answer.begin(), train.is_answer.end(), 1) == 31);
    check_reads(*noisy, noisy->sample(4, "test", 32, index));
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
