#include "data/synthetic/induction.h"

#include <algorithm>
#include <vector>

#include "data/synthetic/elementary.h"

namespace farfield::data {
namespace {

// A copy that may be under way: its next symbol is that of the place `from`.
struct Copy {
  int64_t from, n_left;
  double probability;
};

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
  double nats = 0;
  double is_free = 1;                // probability that no copy is under way
  std::vector<Copy> alive, next;     // their probabilities and is_free have the sum 1
  std::vector<std::vector<int64_t>>  // of each symbol those places that a copy may begin from
      places(topic.theta().size());
  for (int64_t i = 1; i < n; ++i) {
    const int32_t symbol = at(i);
    const int64_t n_places = i - copies.length + 1;
    const bool may_copy = copies.probability > 0 && n_places > 0;
    if (may_copy) places[static_cast<size_t>(at(n_places - 1))].push_back(n_places - 1);

    next.clear();
    double others =
        is_free * (may_copy ? 1 - copies.probability : 1) * topic.probability(at(i - 1), symbol);
    double sum = others;
    const auto go_on = [&](int64_t from, int64_t n_left, double probability) {
      sum += probability;
      if (n_left > 1)
        next.push_back({from + 1, n_left - 1, probability});
      else
        others += probability;
    };
    for (const Copy& copy : alive)
      if (at(copy.from) == symbol) go_on(copy.from, copy.n_left, copy.probability);
    if (may_copy)
      for (const int64_t from : places[static_cast<size_t>(symbol)])
        go_on(from, copies.length, is_free * copies.probability / static_cast<double>(n_places));
    nats -= portable_log(sum);
    is_free = others / sum;
    for (Copy& copy : next) copy.probability /= sum;
    std::swap(alive, next);
  }
  return nats;
}

}  // namespace farfield::data
