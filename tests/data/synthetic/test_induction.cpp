#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "data/synthetic/elementary.h"
#include "data/synthetic/induction.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_induction)
namespace {

struct Fixture {
  int64_t alphabet = 3;
  TopicOptions options = {.alphabet = alphabet, .local = 0.3, .alpha = 0.7, .seed = 4};
  Successors successors{alphabet, 4};
  Draws draws{4, 5};
  Topic topic{options, successors, draws};

  std::vector<int32_t> written(const CopyOptions& copies, size_t n) {
    std::vector<int32_t> text(n);
    write_document(topic, copies, draws, text);
    return text;
  }
};

// The probability of text[i ...], where no copy is under way, by every way to write it.
double by_every_way(const Topic& topic, const CopyOptions& copies, const std::vector<int32_t>& text,
                    size_t i) {
  if (i == text.size()) return 1;
  const auto length = static_cast<size_t>(copies.length);
  const double p = i >= length ? copies.probability : 0;
  double sum =
      (1 - p) * topic.probability(text[i - 1], text[i]) * by_every_way(topic, copies, text, i + 1);
  for (size_t from = 0; p > 0 && from + length <= i; ++from) {
    const size_t n = std::min(length, text.size() - i);
    bool is_copy = true;
    for (size_t k = 0; k < n; ++k) is_copy = is_copy && text[from + k] == text[i + k];
    if (is_copy)
      sum += p / static_cast<double>(i - length + 1) * by_every_way(topic, copies, text, i + n);
  }
  return sum;
}

BOOST_FIXTURE_TEST_CASE(the_cross_entropy_is_that_of_every_way_to_write_a_document, Fixture) {
  for (const CopyOptions copies : {CopyOptions{0.3, 1}, {0.4, 2}, {0.2, 3}, {0.9, 4}, {0, 2}})
    for (int i = 0; i < 5; ++i) {
      const std::vector<int32_t> text = written(copies, 14);
      BOOST_TEST(
          std::exp(-document_nats(topic, copies, text)) == by_every_way(topic, copies, text, 1),
          boost::test_tools::tolerance(1e-12));
    }
}

// document_nats() with each copy that may be under way on its own: slow where many are.
double by_single_copies(const Topic& topic, const CopyOptions& copies,
                        const std::vector<int32_t>& text) {
  struct Copy {
    int64_t from, n_left;
    double probability;
  };
  const auto at = [&](int64_t i) { return text[static_cast<size_t>(i)]; };
  double nats = 0, is_free = 1;
  std::vector<Copy> alive, next;
  for (int64_t i = 1; i < static_cast<int64_t>(text.size()); ++i) {
    const int64_t n_places = i - copies.length + 1;
    const bool may_copy = copies.probability > 0 && n_places > 0;
    next.clear();
    double others =
        is_free * (may_copy ? 1 - copies.probability : 1) * topic.probability(at(i - 1), at(i));
    double sum = others;
    const auto go_on = [&](int64_t from, int64_t n_left, double probability) {
      sum += probability;
      if (n_left > 1)
        next.push_back({from + 1, n_left - 1, probability});
      else
        others += probability;
    };
    for (const Copy& copy : alive)
      if (at(copy.from) == at(i)) go_on(copy.from, copy.n_left, copy.probability);
    for (int64_t from = 0; may_copy && from < n_places; ++from)
      if (at(from) == at(i))
        go_on(from, copies.length, is_free * copies.probability / static_cast<double>(n_places));
    nats -= portable_log(sum);
    is_free = others / sum;
    for (Copy& copy : next) copy.probability /= sum;
    std::swap(alive, next);
  }
  return nats;
}

BOOST_AUTO_TEST_CASE(copies_taken_together_give_the_bits_of_single_ones) {
  for (const int64_t alphabet : {2, 3, 64})
    for (const double alpha : {0.001, 0.3, 5.0})
      for (const CopyOptions copies : {CopyOptions{0.02, 16}, {0.5, 1}, {0.9, 3}, {0.1, 200}}) {
        const TopicOptions options = {
            .alphabet = alphabet, .local = 0.2, .alpha = alpha, .seed = 3};
        const Successors successors(alphabet, 3);
        Draws draws(3, 8);
        const Topic topic(options, successors, draws);
        std::vector<int32_t> text(900);
        write_document(topic, copies, draws, text);
        BOOST_TEST(document_nats(topic, copies, text) == by_single_copies(topic, copies, text),
                   alphabet << ' ' << alpha << ' ' << copies.length);
      }
}

BOOST_FIXTURE_TEST_CASE(the_next_symbols_have_probabilities_of_sum_one, Fixture) {
  const CopyOptions copies = {0.1, 5};
  for (const size_t n : {4u, 6u, 60u, 200u}) {
    std::vector<int32_t> text = written(copies, n);
    const double before = document_nats(topic, copies, text);
    double sum = 0;
    text.push_back(0);
    for (int32_t symbol = 0; symbol < 3; ++symbol) {
      text.back() = symbol;
      sum += std::exp(before - document_nats(topic, copies, text));
    }
    BOOST_TEST(sum == 1, boost::test_tools::tolerance(1e-9));
  }
}

// Of an alphabet in which chance repeats nothing of this length: each copy is found where it
// stands, and begins after 1 / p symbols that are not copied.
BOOST_AUTO_TEST_CASE(copies_begin_as_often_as_they_should_and_are_whole) {
  const TopicOptions options = {.alphabet = 94, .local = 0, .alpha = 100, .seed = 1};
  const Successors successors(94, 1);
  const CopyOptions copies = {0.02, 16};
  int64_t n_copies = 0, n_free = 0;
  for (uint64_t document = 0; document < 40; ++document) {
    Draws draws(1, document);
    const Topic topic(options, successors, draws);
    std::vector<int32_t> text(2000);
    write_document(topic, copies, draws, text);
    for (size_t i = 16; i < text.size();) {
      const auto at = text.begin() + static_cast<std::ptrdiff_t>(i);
      const bool is_copy =
          i + 16 <= text.size() && std::search(text.begin(), at, at, at + 16) != at;
      n_copies += is_copy;
      n_free += !is_copy;
      i += is_copy ? 16 : 1;
    }
  }
  // 0.02 of the symbols that decide, which are the free ones and one for each copy
  const auto n = static_cast<double>(n_free + n_copies), p = static_cast<double>(n_copies) / n;
  BOOST_TEST(std::abs(p - 0.02) < 5 * std::sqrt(0.02 / n));
}

BOOST_FIXTURE_TEST_CASE(without_copies_the_cross_entropy_is_that_of_the_topic, Fixture) {
  const std::vector<int32_t> text = written({}, 500);
  double nats = 0;
  for (size_t i = 1; i < text.size(); ++i)
    nats -= std::log(topic.probability(text[i - 1], text[i]));
  BOOST_TEST(document_nats(topic, {}, text) == nats, boost::test_tools::tolerance(1e-12));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
