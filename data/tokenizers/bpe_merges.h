#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield::data {

/// Two tokens that become one.
struct BpeMerge {
  int32_t left, right, product;
};

/// Merges by rank, the first before all others: while some merge joins neighbours of a piece, the
/// neighbours of lowest rank are joined, the leftmost first.
class BpeMerges {
 public:
  /// Working memory of apply(); its contents between calls do not matter.
  struct Workspace {
    std::vector<int32_t> ids;
    std::vector<uint32_t> before, after;  // neighbours that are left
    std::vector<uint64_t> heap;
  };

  /// At most 2^31 merges, no pair twice; ids are not negative.
  explicit BpeMerges(std::span<const BpeMerge> merges);

  /// Joins what is in `ids`, and leaves the result there. Time n log n at worst for n ids; some
  /// 30 bytes of memory for each. At most kMostIds.
  void apply(std::vector<int32_t>& ids, Workspace& work) const;
  static constexpr size_t kMostIds = size_t{24} << 20;

 private:
  struct Slot {
    uint64_t pair;
    uint32_t rank;
    int32_t product;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  Slot find(int32_t left, int32_t right) const;
  void apply_short(std::vector<int32_t>& ids) const;
  void apply_by_heap(std::vector<int32_t>& ids, Workspace& work) const;
  void apply_in_passes(std::vector<int32_t>& ids) const;
  void apply_by_rank(std::vector<int32_t>& ids, Workspace& work) const;
  static void link(size_t n, Workspace& work);
  static void keep(std::vector<int32_t>& ids, const Workspace& work);
  template <class Changed>
  bool join(uint32_t at, uint32_t rank, std::vector<int32_t>& ids, Workspace& work,
            const Changed& changed) const;

  std::vector<Slot> slots_;  // open addressing
  uint64_t mask_ = 0;
  int shift_ = 0;
  size_t n_merges_ = 0;
  bool is_rising_ = true;  // only later merges join the result of a merge
};

}  // namespace farfield::data
