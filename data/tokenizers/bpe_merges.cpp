#include "data/tokenizers/bpe_merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <functional>

namespace farfield::data {
namespace {

constexpr size_t kShort = 64;  // where looking at all pairs again costs less than a heap
// Lists of places, one for each rank, cost less than a heap for pieces that are much longer.
constexpr size_t kLong = 16384;
constexpr uint32_t kEnd = UINT32_MAX;

uint64_t pair_of(int32_t left, int32_t right) {
  return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
}

// The upper bits depend on both ids.
uint64_t mix(uint64_t pair) { return pair * 0x9E3779B97F4A7C15u; }

}  // namespace

BpeMerges::BpeMerges(std::span<const BpeMerge> merges) : n_merges_(merges.size()) {
  const size_t n_slots = std::bit_ceil(std::max<size_t>(16, merges.size() * 2));
  slots_.assign(n_slots, {UINT64_MAX, kNone, -1});
  mask_ = n_slots - 1;
  shift_ = 64 - std::countr_zero(n_slots);
  int32_t n_ids = 0;
  for (const BpeMerge& m : merges)
    n_ids = std::max({n_ids, m.left + 1, m.right + 1, m.product + 1});
  std::vector<bool> is_used(static_cast<size_t>(n_ids));  // on the left or right of a merge so far
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const BpeMerge& m = merges[rank];
    const uint64_t pair = pair_of(m.left, m.right);
    uint64_t at = mix(pair) >> shift_;
    while (slots_[at].pair != UINT64_MAX) at = (at + 1) & mask_;
    slots_[at] = {pair, static_cast<uint32_t>(rank), m.product};
    is_used[static_cast<size_t>(m.left)] = is_used[static_cast<size_t>(m.right)] = true;
    is_rising_ = is_rising_ && !is_used[static_cast<size_t>(m.product)];
  }
}

BpeMerges::Slot BpeMerges::find(int32_t left, int32_t right) const {
  const uint64_t pair = pair_of(left, right);
  for (uint64_t at = mix(pair) >> shift_;; at = (at + 1) & mask_) {
    const Slot& slot = slots_[at];
    if (slot.pair == pair || slot.pair == UINT64_MAX) return slot;
  }
}

void BpeMerges::apply(std::vector<int32_t>& ids, Workspace& work) const {
  assert(ids.size() <= kMostIds);
  if (ids.size() <= kShort) return apply_short(ids);
  if (is_rising_ && ids.size() > kLong && ids.size() > n_merges_ / 4)
    return apply_by_rank(ids, work);
  apply_by_heap(ids, work);
}

void BpeMerges::apply_short(std::vector<int32_t>& ids) const {
  size_t n = ids.size();
  if (n < 2) return;
  std::array<uint32_t, kShort> ranks;    // of an id and the next
  std::array<int32_t, kShort> products;  // of them
  const auto look = [&](size_t i) {
    const Slot slot = find(ids[i], ids[i + 1]);
    ranks[i] = slot.rank;
    products[i] = slot.product;
  };
  for (size_t i = 0; i + 1 < n; ++i) look(i);
  while (n > 1) {
    const size_t at = static_cast<size_t>(
        std::min_element(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(n - 1)) -
        ranks.begin());
    if (ranks[at] == kNone) break;
    ids[at] = products[at];
    for (size_t i = at + 1; i + 1 < n; ++i) {
      ids[i] = ids[i + 1];
      ranks[i] = ranks[i + 1 < n - 1 ? i + 1 : i];
      products[i] = products[i + 1 < n - 1 ? i + 1 : i];
    }
    --n;
    if (at > 0) look(at - 1);
    if (at + 1 < n) look(at);
  }
  ids.resize(n);
}

void BpeMerges::link(size_t n, Workspace& work) {
  work.before.resize(n);
  work.after.resize(n);
  for (size_t i = 0; i < n; ++i) {
    work.before[i] = i == 0 ? kEnd : static_cast<uint32_t>(i - 1);
    work.after[i] = i + 1 == n ? kEnd : static_cast<uint32_t>(i + 1);
  }
}

// Joins the id at a place with the next if this is still what the merge of the rank joins;
// changed(place) for each place that has another id, or another neighbour, than before.
template <class Changed>
bool BpeMerges::join(uint32_t at, uint32_t rank, std::vector<int32_t>& ids, Workspace& work,
                     const Changed& changed) const {
  const uint32_t next = work.after[at];
  if (ids[at] < 0 || next == kEnd) return false;
  const Slot slot = find(ids[at], ids[next]);
  if (slot.rank != rank) return false;
  ids[at] = slot.product;
  ids[next] = -1;
  const uint32_t following = work.after[next];
  work.after[at] = following;
  if (following != kEnd) {
    work.before[following] = at;
    changed(at, following);
  }
  if (work.before[at] != kEnd) changed(work.before[at], at);
  return true;
}

void BpeMerges::keep(std::vector<int32_t>& ids, const Workspace& work) {
  size_t n = 0;
  for (uint32_t at = 0; at != kEnd; at = work.after[at]) ids[n++] = ids[at];
  ids.resize(n);
}

void BpeMerges::apply_by_heap(std::vector<int32_t>& ids, Workspace& work) const {
  link(ids.size(), work);
  std::vector<uint64_t>& heap = work.heap;  // rank and place
  heap.clear();
  const auto note = [&](uint32_t left, uint32_t right) {
    const uint32_t rank = find(ids[left], ids[right]).rank;
    if (rank != kNone) heap.push_back(uint64_t{rank} << 32 | left);
    return rank != kNone;
  };
  for (uint32_t i = 0; i + 1 < ids.size(); ++i) note(i, i + 1);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const uint64_t lowest = heap.back();
    heap.pop_back();
    join(static_cast<uint32_t>(lowest), static_cast<uint32_t>(lowest >> 32), ids, work,
         [&](uint32_t left, uint32_t right) {
           if (note(left, right)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
         });
  }
  keep(ids, work);
}

// Passes over all ids while the lowest rank has so many places that the ids get fewer quickly, as
// in a run of one character: a pass costs much less than as many steps with lists.
void BpeMerges::apply_in_passes(std::vector<int32_t>& ids) const {
  constexpr size_t kWorthAPass = 8;
  for (;;) {
    Slot lowest = {UINT64_MAX, kNone, -1}, last = lowest;
    size_t n_lowest = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      if (last.pair != pair_of(ids[i], ids[i + 1])) {
        last = find(ids[i], ids[i + 1]);
        last.pair = pair_of(ids[i], ids[i + 1]);
      }
      if (last.rank < lowest.rank) {
        lowest = last;
        n_lowest = 0;
      }
      n_lowest += last.rank == lowest.rank;
    }
    if (lowest.rank == kNone || n_lowest < ids.size() / kWorthAPass) return;
    size_t n = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool joins = i + 1 < ids.size() && pair_of(ids[i], ids[i + 1]) == lowest.pair;
      ids[n++] = joins ? lowest.product : ids[i];
      i += joins;
    }
    ids.resize(n);
  }
}

// One rank after the other, which is right where no merge makes work for an earlier one.
void BpeMerges::apply_by_rank(std::vector<int32_t>& ids, Workspace& work) const {
  apply_in_passes(ids);
  link(ids.size(), work);
  std::vector<std::vector<uint32_t>> places(n_merges_);
  const auto note = [&](uint32_t left, uint32_t right) {
    const uint32_t rank = find(ids[left], ids[right]).rank;
    if (rank != kNone) places[rank].push_back(left);
  };
  for (uint32_t i = 0; i + 1 < ids.size(); ++i) note(i, i + 1);
  for (uint32_t rank = 0; rank < n_merges_; ++rank) {
    std::vector<uint32_t> here = std::move(places[rank]);
    if (!std::is_sorted(here.begin(), here.end())) std::sort(here.begin(), here.end());
    for (const uint32_t at : here) join(at, rank, ids, work, note);
  }
  keep(ids, work);
}

}  // namespace farfield::data
