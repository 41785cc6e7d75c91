#include "tests/support/cuda/faults.h"

#include <atomic>

#include "tests/support/cuda/runtime.h"

namespace farfield::emulation {
namespace {

std::atomic<int64_t> n_left = 0;  // pieces of work up to the one that fails; 0: none does
std::atomic<bool> has_failed = false, is_found = false;

}  // namespace

void set_fault(int64_t n) { n_left = n; }

void clear_fault() {
  n_left = 0;
  has_failed = is_found = false;
}

cudaError_t found_fault() { return is_found ? cudaErrorIllegalAddress : cudaSuccess; }

cudaError_t begin_work() {
  const cudaError_t status = found_fault();
  if (status == cudaSuccess && n_left > 0 && --n_left == 0) has_failed = true;
  return status;
}

cudaError_t find_fault() {
  if (has_failed) is_found = true;
  return found_fault();
}

}  // namespace farfield::emulation
