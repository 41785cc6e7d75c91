#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "tests/support/cuda/tensor_map.h"
#include "tests/support/cuda/where.h"

namespace farfield::emulation {

/// A bulk copy, of a box of a tensor or of bytes.
struct BulkCopy {
  void* to;
  const void* from;  ///< of bytes
  size_t size_bytes;
  std::optional<TensorBoxes> boxes = {};
  std::vector<int> coordinates = {};

  void make() const;
};

/// The barriers of a block that count the bytes of bulk copies. Copies of a phase are made when the
/// first thread finds that it has ended.
class CopyBarriers {
 public:
  void clear() { phases_.clear(); }
  void init(const void* barrier, int n_announce) {
    phases_[barrier] = {.n_announce = n_announce, .n_missing = n_announce};
  }
  /// These return an error text, or null.
  const char* expect(const void* barrier, size_t n_bytes);
  const char* add(const void* barrier, BulkCopy copy);
  /// Whether the phase of this parity has ended.
  bool has_ended(const void* barrier, unsigned parity);

 private:
  struct Phase {
    int n_announce = 0, n_missing = 0;  // threads that announce bytes, and that have yet to
    unsigned parity = 0;
    size_t n_expected = 0, n_begun = 0;
    std::vector<BulkCopy> copies = {};
  };
  std::map<const void*, Phase> phases_;  // of each barrier, the one that has not ended
};

/// mbarrier.init, .arrive.expect_tx, .try_wait.parity until it holds
void init_copy_barrier(void* barrier, int n_announce);
void expect_copies(void* barrier, int n_bytes);
void wait_for_bulk_copies(void* barrier, unsigned parity, Where where = Where::here());
/// cp.async.bulk.tensor, cp.async.bulk
void copy_box(void* to, const CUtensorMap& map, std::initializer_list<int> coordinates,
              void* barrier);
void copy_bytes(void* to, const void* from, int n_bytes, void* barrier);

}  // namespace farfield::emulation
