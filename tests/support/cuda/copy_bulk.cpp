#include "tests/support/cuda/copy_bulk.h"

#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "tests/support/cuda/block.h"

namespace farfield::emulation {

void BulkCopy::make() const {
  if (boxes)
    boxes->copy(to, coordinates);
  else
    std::memcpy(to, from, size_bytes);
}

const char* CopyBarriers::expect(const void* barrier, size_t n_bytes) {
  const auto found = phases_.find(barrier);
  if (found == phases_.end()) return "expected a barrier that was initialised";
  Phase& phase = found->second;
  if (phase.n_missing == 0) return "expected a wait before bytes of the next phase";
  --phase.n_missing;
  phase.n_expected += n_bytes;
  return nullptr;
}

const char* CopyBarriers::add(const void* barrier, BulkCopy copy) {
  const auto found = phases_.find(barrier);
  if (found == phases_.end()) return "expected a barrier that was initialised";
  Phase& phase = found->second;
  phase.n_begun += copy.size_bytes;
  if (phase.n_begun > phase.n_expected) return "expected copies of as many bytes as were announced";
  phase.copies.push_back(std::move(copy));
  return nullptr;
}

bool CopyBarriers::has_ended(const void* barrier, unsigned parity) {
  Phase& phase = phases_[barrier];
  if (phase.parity != parity) return true;
  if (phase.n_missing > 0 || phase.n_begun < phase.n_expected) return false;
  for (const BulkCopy& copy : phase.copies) copy.make();
  const int n_announce = phase.n_announce;
  phase = {.n_announce = n_announce, .n_missing = n_announce, .parity = parity ^ 1};
  return true;
}

void init_copy_barrier(void* barrier, int n_announce) {
  this_block().init_copy_barrier(barrier, n_announce);
}

void expect_copies(void* barrier, int n_bytes) {
  this_block().expect_bulk_copies(barrier, static_cast<size_t>(n_bytes));
}

void wait_for_bulk_copies(void* barrier, unsigned parity, Where where) {
  this_block().wait_for_bulk_copies(barrier, parity, where);
}

void copy_box(void* to, const CUtensorMap& map, std::initializer_list<int> coordinates,
              void* barrier) {
  const TensorBoxes boxes = TensorBoxes::of(map);
  require<BackendError>(*coordinates.begin() * boxes.element_bytes % 16 == 0, "cuda",
                        "cp.async.bulk.tensor: expected a first coordinate at a multiple of 16 "
                        "bytes, got ",
                        *coordinates.begin());
  this_block().copy_in_bulk(barrier, {to, nullptr, boxes.box_bytes(), boxes, coordinates});
}

void copy_bytes(void* to, const void* from, int n_bytes, void* barrier) {
  this_block().copy_in_bulk(barrier, {to, from, static_cast<size_t>(n_bytes)});
}

}  // namespace farfield::emulation
