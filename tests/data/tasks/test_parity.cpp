#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/data/tasks/task_words.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_parity)
namespace {

using Words = std::vector<std::string>;

Words slice(const Words& words, size_t begin, size_t n) {
  const auto from = words.begin() + static_cast<std::ptrdiff_t>(begin);
  return {from, from + static_cast<std::ptrdiff_t>(n)};
}

// "1" if the word "1" is there an odd number of times
std::string parity_of(const Words& words) {
  return std::count(words.begin(), words.end(), "1") % 2 == 1 ? "1" : "0";
}

BOOST_AUTO_TEST_CASE(samples_are_those_that_were_written_down) {
  BOOST_TEST(line_of("parity", 5) == "1 1 1 1 0 SEP [0]");
  BOOST_TEST(line_of("parity(form=scratchpad)", 5) == "1 1 1 1 0 SEP [1] [0] [1] [0] [0]");
  BOOST_TEST(line_of("parity(form=padded, width=7)", 5) ==
             "PAD PAD 1 1 1 1 0 SEP PAD PAD [1] [0] [1] [0] [0]");
  BOOST_TEST(line_of("parity(zeros=2)", 5, 0, "train") == "1 0 1 1 0 SEP [1]");
}

BOOST_AUTO_TEST_CASE(the_answer_is_the_parity_of_all_bits_and_every_form_has_the_same_bits) {
  const auto plain = make_task("parity"), scratchpad = make_task("parity(form=scratchpad)"),
             padded = make_task("parity(form=padded)"), prefix = make_task("parity(form=prefix)");
  for (const int64_t length : {1, 2, 7, 20, 57}) {
    const auto n = static_cast<size_t>(length);
    for (int64_t index = 0; index < 50; ++index) {
      const TaskSample sample = plain->sample(5, "test", length, index);
      const Words words = words_of(*plain, sample), bits = slice(words, 0, n);
      BOOST_TEST(std::count(bits.begin(), bits.end(), "0") +
                     std::count(bits.begin(), bits.end(), "1") ==
                 length);
      BOOST_TEST(words[n] == "SEP");
      BOOST_TEST(words[n + 1] == parity_of(bits));
      BOOST_TEST(sample.is_answer[n + 1] == 1);
      BOOST_TEST(std::count(sample.is_answer.begin(), sample.is_answer.end(), 1) == 1);

      Words sums;
      for (size_t t = 1; t <= n; ++t) sums.push_back(parity_of(slice(bits, 0, t)));
      Words want = bits;
      want.push_back("SEP");
      want.insert(want.end(), sums.begin(), sums.end());
      const TaskSample steps = scratchpad->sample(5, "test", length, index);
      BOOST_TEST(words_of(*scratchpad, steps) == want, boost::test_tools::per_element());
      for (size_t i = 0; i < want.size(); ++i) BOOST_TEST(steps.is_answer[i] == (i > n ? 1 : 0));

      const TaskSample wide = padded->sample(5, "test", length, index);
      Words wide_words = words_of(*padded, wide);
      BOOST_TEST_REQUIRE(wide_words.size() == 129u);
      BOOST_TEST(wide_words[64] == "SEP");
      for (const size_t half : {size_t{0}, size_t{65}}) {
        const Words all = slice(wide_words, half, 64);
        const auto begin = static_cast<size_t>(
            std::find_if(all.begin(), all.end(), [](auto& w) { return w != "PAD"; }) - all.begin());
        BOOST_TEST(slice(all, begin, n) == (half == 0 ? bits : sums),
                   boost::test_tools::per_element());
        BOOST_TEST(std::count(all.begin(), all.end(), "PAD") == 64 - length);
        for (size_t i = 0; i < 64; ++i)
          BOOST_TEST(wide.is_answer[half + i] == (half != 0 && all[i] != "PAD" ? 1 : 0));
      }

      const TaskSample asked = prefix->sample(5, "test", length, index);
      BOOST_TEST(asked.tokens == sample.tokens, boost::test_tools::per_element());
      for (size_t t = 1; t <= n; ++t) {
        BOOST_TEST(asked.is_answer[t] == 1);
        BOOST_TEST(std::to_string(asked.targets[t]) == sums[t - 1]);
      }
      BOOST_TEST(asked.targets[n + 1] == sample.tokens[n + 1]);
      BOOST_TEST(asked.is_answer[n + 1] == 1);
    }
  }
}

// From the token before an answer, the bit is at the last distance and the sum so far at the first.
BOOST_AUTO_TEST_CASE(the_needed_tokens_are_at_the_needed_distances) {
  for (const char* text :
       {"parity(form=scratchpad)", "parity(form=padded)", "parity(form=padded, width=31)"}) {
    const auto task = make_task(text);
    for (const int64_t length : {1, 2, 13, 31}) {
      const std::vector<int64_t> distances = task->needed_distances(length);
      BOOST_TEST_REQUIRE(distances.size() == 2u);
      for (int64_t index = 0; index < 20; ++index) {
        const TaskSample sample = task->sample(2, "train", length, index);
        const Words words = words_of(*task, sample);
        for (size_t i = 1; i < words.size(); ++i) {
          if (sample.is_answer[i] == 0) continue;
          const Words needed = {words[i - 1 - static_cast<size_t>(distances[0])],
                                words[i - 1 - static_cast<size_t>(distances[1])]};
          BOOST_TEST(words[i] == parity_of(needed), text << ' ' << length);
        }
      }
    }
  }
  BOOST_TEST(make_task("parity(form=padded)")->needed_distances(3) ==
                 make_task("parity(form=padded)")->needed_distances(40),
             boost::test_tools::per_element());
  BOOST_TEST(make_task("parity")->needed_distances(3).empty());
}

BOOST_AUTO_TEST_CASE(both_parities_and_all_places_are_drawn_alike) {
  const auto plain = make_task("parity"), padded = make_task("parity(form=padded, width=12)");
  constexpr int kSamples = 4000;
  for (const int64_t length : {1, 9}) {
    int n_odd = 0;
    std::vector<int> n_before(13);
    for (int64_t index = 0; index < kSamples; ++index) {
      n_odd += plain->sample(3, "train", length, index).tokens.back();
      const Words words = words_of(*padded, padded->sample(3, "train", length, index));
      ++n_before[static_cast<size_t>(
          std::find_if(words.begin(), words.end(), [](auto& w) { return w != "PAD"; }) -
          words.begin())];
    }
    BOOST_TEST(std::abs(n_odd - kSamples / 2) < 5 * std::sqrt(kSamples / 4.0));
    const auto n_place = static_cast<size_t>(13 - length);
    for (size_t i = 0; i < n_before.size(); ++i) {
      const double want = i < n_place ? kSamples / static_cast<double>(n_place) : 0;
      BOOST_TEST(std::abs(n_before[i] - want) <= 5 * std::sqrt(want), i);
    }
  }
}

// The number of zeros is uniform in 0 ... 3, and each place has the same share of them.
BOOST_AUTO_TEST_CASE(zeros_limit_the_zeros_of_training_and_not_of_the_test) {
  const auto task = make_task("parity(zeros=3)"), all = make_task("parity");
  constexpr int kSamples = 4000;
  std::vector<int> n_zeros(9), at_place(8);
  for (int64_t index = 0; index < kSamples; ++index) {
    const TaskSample sample = task->sample(3, "train", 8, index);
    const auto n =
        static_cast<size_t>(std::count(sample.tokens.begin(), sample.tokens.end() - 2, 0));
    ++n_zeros[n];
    for (size_t i = 0; i < 8; ++i) at_place[i] += sample.tokens[i] == 0 ? 1 : 0;
    BOOST_TEST(sample.tokens[9] == static_cast<int32_t>(n % 2));  // of 8 bits
    BOOST_TEST(task->sample(3, "test", 8, index).tokens == all->sample(3, "test", 8, index).tokens);
  }
  for (size_t n = 0; n <= 8; ++n) {
    const double want = n <= 3 ? kSamples / 4.0 : 0;
    BOOST_TEST(std::abs(n_zeros[n] - want) <= 5 * std::sqrt(want), n);
  }
  for (const int n : at_place)
    BOOST_TEST(std::abs(n - 1.5 / 8 * kSamples) < 5 * std::sqrt(1.5 / 8 * kSamples));
  const auto ones = make_task("parity(zeros=0)");
  BOOST_TEST(line_of(*ones, ones->sample(0, "train", 3, 0)) == "1 1 1 SEP [1]");
  const auto shorter = make_task("parity(zeros=100)");
  for (int64_t index = 0; index < 50; ++index) shorter->sample(0, "train", 3, index);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
