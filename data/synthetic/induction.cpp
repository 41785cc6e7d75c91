#include "data/synthetic/induction.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

#include "data/synthetic/elementary.h"

namespace farfield::data {
namespace {

// sum + x + x + ..., n times, each sum rounded as the processor does it: the same bits, in as many
// steps as there are powers of two on the way. x >= 0.
double add_times(double sum, double x, int64_t n) {
  while (n > 0) {
    const double first = sum + x;
    if (--n == 0 || first == sum) return first;
    const double second = first + x;
    --n;
    // Between two powers of two, where neighbouring numbers have one distance, all steps are equal
    // but for the first, which may be a tie that goes another way.
    const int exponent = std::ilogb(sum);
    const bool is_between = std::ilogb(first) == exponent && std::ilogb(second) == exponent;
    const double step = second - first;
    sum = second;
    if (!is_between) continue;
    const double end = std::ldexp(1.0, exponent + 1);
    const auto room = static_cast<int64_t>(std::clamp((end - sum) / step - 2, 0.0, 9e18));
    const int64_t k = std::min(n, room);
    sum += static_cast<double>(k) * step;  // both exact
    n -= k;
  }
  return sum;
}

}  // namespace

void write_document(const Topic& topic, const CopyOptions& copies, Draws& draws,
                    std::span<int32_t> text) {
  const auto n = static_cast<int64_t>(text.size());
  const auto at = [&](int64_t i) -> int32_t& { return text[static_cast<size_t>(i)]; };
  at(0) = topic.first(draws);
  for (int64_t i = 1; i < n;) {
    const bool is_copy =
        copies.probability > 0 && i >= copies.length && draws.uniform() < copies.probability;
    if (!is_copy) {
      at(i) = topic.next(at(i - 1), draws);
      ++i;
      continue;
    }
    const int64_t from = draws.below(i - copies.length + 1);
    const int64_t n_copied = std::min(copies.length, n - i);
    std::copy_n(text.begin() + from, n_copied, text.begin() + i);
    i += n_copied;
  }
}

double document_nats(const Topic& topic, const CopyOptions& copies, std::span<const int32_t> text) {
  const auto n = static_cast<int64_t>(text.size());
  const auto at = [&](int64_t i) { return text[static_cast<size_t>(i)]; };
  // Copies that began at the same symbol are equally probable. Copies still under way come from the
  // places where the text has been the same so far.
  std::deque<double> began;  // of each symbol, from the latest on: the probability of such a copy
  std::vector<std::vector<int64_t>> places(topic.theta().size());  // of each symbol, for a copy
  // For each place, to how many symbols up to it the latest ones are equal, copies.length at most.
  std::vector<int64_t> equal(text.size()), equal_before(text.size());
  std::vector<int64_t> n_equal;  // places with so many, or more
  double nats = 0;
  double is_free = 1;  // probability that no copy is under way
  for (int64_t i = 1; i < n; ++i) {
    const int32_t symbol = at(i);
    const int64_t n_places = i - copies.length + 1;
    const bool may_copy = copies.probability > 0 && n_places > 0;
    if (may_copy) places[static_cast<size_t>(at(n_places - 1))].push_back(n_places - 1);

    n_equal.assign(1, 0);
    if (may_copy)
      for (const int64_t place : places[static_cast<size_t>(symbol)]) {
        const int64_t before = place > 0 && at(place - 1) == at(i - 1)
                                   ? equal_before[static_cast<size_t>(place - 1)]
                                   : 0;
        const int64_t length = std::min(before + 1, copies.length);
        equal[static_cast<size_t>(place)] = length;
        if (length >= static_cast<int64_t>(n_equal.size()))
          n_equal.resize(static_cast<size_t>(length) + 1);
        ++n_equal[static_cast<size_t>(length)];
      }
    for (size_t length = n_equal.size() - 1; length > 1; --length)
      n_equal[length - 1] += n_equal[length];

    double others =
        is_free * (may_copy ? 1 - copies.probability : 1) * topic.probability(at(i - 1), symbol);
    double sum = others;
    began.push_front(may_copy ? is_free * copies.probability / static_cast<double>(n_places) : 0);
    // The oldest first. Those that are over now leave the next symbol free.
    for (size_t length = n_equal.size() - 1; length > 0; --length) {
      const double probability = began[length - 1];
      sum = add_times(sum, probability, n_equal[length]);
      if (static_cast<int64_t>(length) == copies.length)
        others = add_times(others, probability, n_equal[length]);
    }
    nats -= portable_log(sum);
    is_free = others / sum;
    began.resize(std::min(n_equal.size() - 1, static_cast<size_t>(copies.length) - 1));
    for (double& probability : began) probability /= sum;
    std::swap(equal, equal_before);
  }
  return nats;
}

}  // namespace farfield::data
