#include "engine/comm/communicator.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/base/error.h"
#include "engine/comm/sub_transport.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "processes";

// The processes that a tree of P leaves is made of: with P not a power of two, of the first 2 (P -
// p) ranks every second gives its values to the one before, and waits. What is left is p = 2^k
// processes, numbered anew.
struct Tree {
  explicit Tree(int size)
      : p(static_cast<int>(std::bit_floor(static_cast<unsigned>(size)))), n_pairs(size - p) {}

  bool gives(int rank) const { return rank < 2 * n_pairs && rank % 2 == 1; }
  bool takes(int rank) const { return rank < 2 * n_pairs && rank % 2 == 0; }
  int place(int rank) const { return rank < 2 * n_pairs ? rank / 2 : rank - n_pairs; }
  int rank(int place) const { return place < n_pairs ? 2 * place : place + n_pairs; }
  int levels() const { return std::countr_zero(static_cast<unsigned>(p)); }

  int p, n_pairs;
};

// Elements in units, of which the last may be smaller.
struct Units {
  Range elements(const Range& units) const {
    return {std::min(n, units.begin * unit), std::min(n, units.end * unit)};
  }
  // The units of `place` after `level` halvings: neighbours halve first, so that sums are added in
  // the order of the tree.
  Range units_of(int place, int level) const {
    Range range = {0, (n + unit - 1) / unit};
    for (int i = 0; i < level; ++i) {
      const int64_t middle = range.begin + range.size() / 2;
      ((place >> i) & 1 ? range.begin : range.end) = middle;
    }
    return range;
  }
  Range part_of(int place, int level) const { return elements(units_of(place, level)); }

  int64_t n, unit;
};

template <class T>
std::span<T> of(std::span<T> values, const Range& range) {
  return values.subspan(static_cast<size_t>(range.begin), static_cast<size_t>(range.size()));
}

template <class T>
void add(std::span<T> to, const std::vector<T>& more) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += more[i];
}

template <class T>
void receive_and_add(Transport& transport, int from, std::span<T> values) {
  std::vector<T> more(values.size());
  transport.exchange({}, {from, std::as_writable_bytes(std::span(more))});
  add(values, more);
}

// Halves with one partner after the other: at the end `place` has the sum of its part.
template <class T>
void halve(Transport& transport, const Tree& tree, std::span<T> values, int64_t unit) {
  const int place = tree.place(transport.rank());
  const Units units{static_cast<int64_t>(values.size()), unit};
  std::vector<T> more;
  for (int level = 0; level < tree.levels(); ++level) {
    const int other = place ^ (1 << level), partner = tree.rank(other);
    const std::span<T> own = of(values, units.part_of(place, level + 1)),
                       theirs = of(values, units.part_of(other, level + 1));
    more.resize(own.size());
    transport.exchange({partner, std::as_bytes(theirs)},
                       {partner, std::as_writable_bytes(std::span(more))});
    add(own, more);
  }
}

// The way back: each has its part at first, and all in the end.
template <class T>
void double_up(Transport& transport, const Tree& tree, std::span<T> values, int64_t unit) {
  const int place = tree.place(transport.rank());
  const Units units{static_cast<int64_t>(values.size()), unit};
  for (int level = tree.levels() - 1; level >= 0; --level) {
    const int other = place ^ (1 << level), partner = tree.rank(other);
    transport.exchange(
        {partner, std::as_bytes(of(values, units.part_of(place, level + 1)))},
        {partner, std::as_writable_bytes(of(values, units.part_of(other, level + 1)))});
  }
}

}  // namespace

Communicator Communicator::among(const std::vector<int>& ranks) const {
  if (is_alone() || ranks == std::vector<int>{rank()}) return {};
  return Communicator(std::make_shared<SubTransport>(transport_, ranks));
}

std::string Communicator::description() const {
  return is_alone() ? "one process" : concat(size(), " processes by ", transport_->name());
}

template <class T>
void Communicator::sum_of(std::span<T> values) {
  if (is_alone()) return;
  Transport& transport = *transport_;
  const Tree tree(size());
  const int own = rank();
  if (tree.gives(own)) {
    transport.exchange({own - 1, std::as_bytes(values)}, {});
    transport.exchange({}, {own - 1, std::as_writable_bytes(values)});
    return;
  }
  if (tree.takes(own)) receive_and_add(transport, own + 1, values);
  halve(transport, tree, values, 1);
  double_up(transport, tree, values, 1);
  if (tree.takes(own)) transport.exchange({own + 1, std::as_bytes(values)}, {});
}

void Communicator::sum(std::span<float> values) { sum_of(values); }
void Communicator::sum(std::span<double> values) { sum_of(values); }

void Communicator::reduce_scatter(std::span<float> values, int64_t unit) {
  if (is_alone()) return;
  const Tree tree(size());
  const int own = rank();
  const auto n = static_cast<int64_t>(values.size());
  if (tree.gives(own)) {
    transport_->exchange({own - 1, std::as_bytes(values)}, {});
    transport_->exchange({}, {own - 1, std::as_writable_bytes(of(values, own_part(n, unit)))});
    return;
  }
  if (tree.takes(own)) receive_and_add(*transport_, own + 1, values);
  halve(*transport_, tree, values, unit);
  if (tree.takes(own))
    transport_->exchange({own + 1, std::as_bytes(of(values, part(n, own + 1, unit)))}, {});
}

void Communicator::all_gather(std::span<float> values, int64_t unit) {
  if (is_alone()) return;
  const Tree tree(size());
  const int own = rank();
  const auto n = static_cast<int64_t>(values.size());
  if (tree.gives(own)) {
    transport_->exchange({own - 1, std::as_bytes(of(values, own_part(n, unit)))}, {});
    transport_->exchange({}, {own - 1, std::as_writable_bytes(values)});
    return;
  }
  if (tree.takes(own))
    transport_->exchange({}, {own + 1, std::as_writable_bytes(of(values, part(n, own + 1, unit)))});
  double_up(*transport_, tree, values, unit);
  if (tree.takes(own)) transport_->exchange({own + 1, std::as_bytes(values)}, {});
}

Range Communicator::part(int64_t n, int rank, int64_t unit) const {
  const Tree tree(size());
  const Units units{n, unit};
  Range range = units.units_of(tree.place(rank), tree.levels());
  if (tree.takes(rank)) range.end = range.begin + (range.size() + 1) / 2;
  if (tree.gives(rank)) range.begin += (range.size() + 1) / 2;
  return units.elements(range);
}

void Communicator::send(std::span<const std::byte> bytes, int to) {
  transport_->exchange({to, bytes}, {});
}
void Communicator::receive(std::span<std::byte> bytes, int from) {
  transport_->exchange({}, {from, bytes});
}

void Communicator::broadcast(std::span<std::byte> bytes, int root) {
  if (is_alone()) return;
  // Binomial: of ranks counted from the root, those below 2^k send to those behind.
  const int n = size(), own = (rank() - root + n) % n;
  for (int reach = 1; reach < n; reach *= 2) {
    if (own < reach && own + reach < n)
      transport_->exchange({(own + reach + root) % n, bytes}, {});
    else if (own >= reach && own < 2 * reach)
      transport_->exchange({}, {(own - reach + root) % n, bytes});
  }
}

std::string Communicator::broadcast(const std::string& text, int root) {
  uint64_t size_of_text = text.size();
  broadcast(std::as_writable_bytes(std::span(&size_of_text, 1)), root);
  std::string received = rank() == root ? text : std::string(size_of_text, '\0');
  broadcast(std::as_writable_bytes(std::span(received)), root);
  return received;
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  std::vector<std::string> all;
  for (int root = 0; root < size(); ++root) all.push_back(broadcast(text, root));
  return all;
}

int64_t Communicator::maximum(int64_t value) {
  int64_t most = value;
  for (int root = 0; root < size(); ++root) {
    int64_t theirs = value;
    broadcast(std::as_writable_bytes(std::span(&theirs, 1)), root);
    most = std::max(most, theirs);
  }
  return most;
}

int Communicator::first_ended() const {
  for (int other = 0; other < size(); ++other)
    if (transport_ != nullptr && transport_->has_ended(other)) return other;
  return kNobody;
}

void Communicator::require_equal(const std::string& what, const std::string& text) {
  const std::vector<std::string> all = gather(text);
  for (size_t rank = 1; rank < all.size(); ++rank)
    require<ConfigError>(all[rank] == all[0], kWhere, "expected the same ", what,
                         " in all processes, got '", all[0], "' in process 0 and '", all[rank],
                         "' in process ", rank, "; start all with the same command");
}

}  // namespace farfield::comm
