#pragma once

#include <map>
#include <utility>

#include "tests/support/cuda/block.h"

namespace farfield::emulation {

/// Whether a device of compute capability 8.0 could be given this.
bool is_valid(const Launch& launch);

/// Runs all blocks, one after the other.
void run_grid(const Launch& launch);

/// While one lives, each launch of this thread of the host runs twice: forward, and then with
/// blocks, warps and lanes backward, from the same device memory but over another poison in shared
/// memory. BackendError if the two leave different device memory, because of a data race, the order
/// of atomic additions, or a value that was never written. FARFIELD_CUDA_RACES=1 in the environment
/// does it for all launches.
class RaceCheck {
 public:
  RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;
  ~RaceCheck();
};

/// While it lives, the shared memory that launches by this thread of the host give: one at a time.
class SharedBytesGiven {
 public:
  SharedBytesGiven();
  SharedBytesGiven(const SharedBytesGiven&) = delete;
  SharedBytesGiven& operator=(const SharedBytesGiven&) = delete;
  ~SharedBytesGiven();

  /// Least and most, by the kernel's address.
  std::map<const void*, std::pair<size_t, size_t>> of_kernel = {};
};

}  // namespace farfield::emulation
