#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include "tests/data/tasks/task_words.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_algorithmic)
namespace {

using Words = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(samples_are_those_that_were_written_down) {
  BOOST_TEST(line_of("first", 4) == "1 0 1 0 SEP [1]");
  BOOST_TEST(line_of("copy(alphabet=8, eos=token)", 4) == "0 0 7 7 SEP [0] [0] [7] [7] [EOS]");
  BOOST_TEST(line_of("reverse_string", 4) == "1 0 0 0 SEP [0] [0] [0] [1]");
  BOOST_TEST(line_of("duplicate_string", 3) == "1 0 0 SEP [1] [0] [0] [1] [0] [0]");
  BOOST_TEST(line_of("odds_first", 5) == "1 1 1 0 1 SEP [1] [0] [1] [1] [1]");
  BOOST_TEST(line_of("bucket_sort", 6) == "0 2 3 4 3 0 SEP [0] [0] [2] [3] [3] [4]");
  BOOST_TEST(line_of("missing_duplicate_string", 7) == "0 0 1 ? 0 1 . SEP [0]");
  BOOST_TEST(line_of("missing_duplicate_string", 1) == "1 SEP [1]");
  BOOST_TEST(line_of("parity_check", 5) == "0 1 0 1 1 SEP [1]");
  BOOST_TEST(line_of("even_pairs", 5) == "1 0 0 0 1 SEP [0]");
  BOOST_TEST(line_of("cycle_navigation", 6) == "2 1 2 2 1 1 SEP [3]");
  BOOST_TEST(line_of("modular_arithmetic", 7) == "3 - 2 - 3 + 1 SEP [4]");
  BOOST_TEST(line_of("modular_arithmetic", 9, 4) == "2 - 0 - 1 + 3 * 4 SEP [3]");
  BOOST_TEST(line_of("modular_arithmetic", 8) == "3 - 1 - 4 + 0 SEP [3]");
}

// The value of an expression from the right: the last sum splits it, then the last product.
int64_t value_of(const Words& words) {
  for (const char* operators : {"+-", "*"}) {
    for (size_t i = words.size(); i-- > 0;) {
      if (words[i].find_first_of(operators) == std::string::npos) continue;
      const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
      const int64_t left = value_of({words.begin(), at}), right = value_of({at + 1, words.end()});
      const int64_t value = words[i] == "+"   ? left + right
                            : words[i] == "-" ? left - right
                                              : left * right;
      return ((value % 5) + 5) % 5;
    }
  }
  return std::stoll(words.at(0));
}

Words hidden_bit(Words words) {
  if (words.size() == 1) return words;
  if (words.size() % 2 == 1) {
    BOOST_TEST(words.back() == ".");
    words.pop_back();
  }
  const size_t half = words.size() / 2;
  Words fits;
  for (const std::string bit : {"0", "1"}) {  // the bit that makes both halves equal
    Words filled = words;
    std::replace(filled.begin(), filled.end(), std::string("?"), bit);
    if (std::equal(filled.begin(), filled.begin() + static_cast<std::ptrdiff_t>(half),
                   filled.begin() + static_cast<std::ptrdiff_t>(half)))
      fits.push_back(bit);
  }
  BOOST_TEST(std::count(words.begin(), words.end(), "?") == 1);
  return fits;
}

struct Case {
  const char* task;
  const char* symbols;  ///< of the input
  std::function<Words(const Words&)> answer;
};

std::vector<Case> cases() {
  const auto at = [](const Words& w, const std::function<size_t(size_t)>& index, size_t n) {
    Words picked;
    for (size_t i = 0; i < n; ++i) picked.push_back(w.at(index(i)));
    return picked;
  };
  return {
      {"first", "01", [](const Words& w) { return Words{w[0]}; }},
      {"copy", "01", [](const Words& w) { return w; }},
      {"copy(alphabet=5)", "01234", [](const Words& w) { return w; }},
      {"reverse_string", "01",
       [=](const Words& w) {
         return at(
             w, [&](size_t i) { return w.size() - 1 - i; }, w.size());
       }},
      {"duplicate_string", "01",
       [=](const Words& w) {
         return at(
             w, [&](size_t i) { return i % w.size(); }, 2 * w.size());
       }},
      {"odds_first", "01",
       [=](const Words& w) {
         const size_t n_odd = w.size() / 2;
         return at(
             w, [&](size_t i) { return i < n_odd ? 2 * i + 1 : 2 * (i - n_odd); }, w.size());
       }},
      {"odds_first(order=even_first)", "01",
       [=](const Words& w) {
         const size_t n_even = (w.size() + 1) / 2;
         return at(
             w, [&](size_t i) { return i < n_even ? 2 * i : 2 * (i - n_even) + 1; }, w.size());
       }},
      {"bucket_sort", "01234",
       [](const Words& w) {
         Words output;
         for (const char* symbol : {"0", "1", "2", "3", "4"})
           output.insert(output.end(), static_cast<size_t>(std::count(w.begin(), w.end(), symbol)),
                         symbol);
         return output;
       }},
      {"missing_duplicate_string", "01?.", hidden_bit},
      {"parity_check", "01",
       [](const Words& w) {
         return Words{std::count(w.begin(), w.end(), "1") % 2 == 1 ? "1" : "0"};
       }},
      {"even_pairs", "01",
       [](const Words& w) {
         int n = 0;
         for (size_t i = 1; i < w.size(); ++i) n += w[i] != w[i - 1] ? 1 : 0;
         return Words{std::to_string(n % 2)};
       }},
      {"cycle_navigation", "012",
       [](const Words& w) {
         int state = 0;
         for (const std::string& step : w) state = (state + std::stoi(step) + 4) % 5;
         return Words{std::to_string(state)};
       }},
      {"modular_arithmetic", "01234+*-",
       [](const Words& w) { return Words{std::to_string(value_of(w))}; }},
  };
}

BOOST_AUTO_TEST_CASE(the_output_is_what_another_program_computes) {
  for (const Case& c : cases()) {
    const auto task = make_task(c.task);
    for (const int64_t length : {1, 2, 3, 4, 9, 20, 57}) {
      for (int64_t index = 0; index < 60; ++index) {
        const TaskSample sample = task->sample(6, "train", length, index);
        Words words = words_of(*task, sample);
        const auto separator = std::find(words.begin(), words.end(), "SEP");
        BOOST_TEST_REQUIRE((separator != words.end()));
        const Words input(words.begin(), separator), output(separator + 1, words.end());
        const bool is_cut = std::string(c.task) == "modular_arithmetic" && length % 2 == 0;
        BOOST_TEST(input.size() == static_cast<size_t>(is_cut ? length - 1 : length));
        for (const std::string& word : input)
          BOOST_TEST(std::string(c.symbols).find(word) != std::string::npos, word);
        BOOST_TEST(output == c.answer(input), line_of(*task, sample));
        for (size_t i = 0; i < words.size(); ++i)
          BOOST_TEST(sample.is_answer[i] == (i > input.size() ? 1 : 0));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_end_is_scored_behind_the_same_output) {
  for (const auto& [without, with] : {std::pair{"copy(alphabet=8)", "copy(alphabet=8, eos=token)"},
                                      std::pair{"reverse_string", "reverse_string(eos=token)"}}) {
    BOOST_TEST(line_of(with, 9) == line_of(without, 9) + " [EOS]");
    BOOST_TEST(make_task(with)->tokens_of(9) == make_task(without)->tokens_of(9) + 1);
    BOOST_TEST(make_task(with)->vocabulary().back() == "EOS");
  }
}

BOOST_AUTO_TEST_CASE(labels_and_symbols_are_drawn_alike) {
  constexpr int kSamples = 3000;
  const std::pair<const char*, int> labels[] = {
      {"first", 2}, {"parity_check", 2}, {"missing_duplicate_string", 2}};
  for (const auto& [text, n_label] : labels) {
    const auto task = make_task(text);
    int n_one = 0;
    for (int64_t index = 0; index < kSamples; ++index)
      n_one += task->sample(6, "test", 12, index).tokens.back();
    BOOST_TEST(std::abs(n_one - kSamples / n_label) < 5 * std::sqrt(kSamples / 4.0), text);
  }
  const std::pair<const char*, int> inputs[] = {
      {"copy", 2}, {"copy(alphabet=8)", 8}, {"bucket_sort", 5}, {"cycle_navigation", 3}};
  for (const auto& [text, n_symbol] : inputs) {
    const auto task = make_task(text);
    std::vector<int> n(static_cast<size_t>(n_symbol));
    for (int64_t index = 0; index < kSamples; ++index) {
      const TaskSample sample = task->sample(6, "test", 4, index);
      for (size_t i = 0; i < 4; ++i) ++n.at(static_cast<size_t>(sample.tokens[i]));
    }
    const double want = 4.0 * kSamples / n_symbol;
    for (const int count : n) BOOST_TEST(std::abs(count - want) < 5 * std::sqrt(want), text);
  }
  const auto missing = make_task("missing_duplicate_string");
  std::vector<int> holes(8);
  for (int64_t index = 0; index < kSamples; ++index) {
    const TaskSample sample = missing->sample(6, "test", 8, index);
    ++holes.at(static_cast<size_t>(std::find(sample.tokens.begin(), sample.tokens.end(), 2) -
                                   sample.tokens.begin()));
  }
  for (const int n : holes)
    BOOST_TEST(std::abs(n - kSamples / 8.0) < 5 * std::sqrt(kSamples / 8.0));
  const auto arithmetic = make_task("modular_arithmetic");
  std::vector<int> operators(8);
  for (int64_t index = 0; index < kSamples; ++index)
    ++operators.at(static_cast<size_t>(arithmetic->sample(6, "test", 3, index).tokens[1]));
  for (size_t id = 0; id < 8; ++id) {
    const double want = id < 5 ? 0 : kSamples / 3.0;
    BOOST_TEST(std::abs(operators[id] - want) <= 5 * std::sqrt(want), id);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
