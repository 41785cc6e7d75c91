#pragma once
// Work that ends in an error of the device, as a kernel does that writes where it must not.

#include <cstdint>

enum cudaError_t : int;

namespace farfield::emulation {

/// Has the n-th piece of work that the device does from here on (1: the next kernel, product, copy,
/// memset or call of a group) end in cudaErrorIllegalAddress. As on a device, the call that gave it
/// the work says nothing: the next one that waits or asks finds the error, and then each piece of
/// work and each wait has it. But memory is still taken back, for the tests that come afterwards.
void set_fault(int64_t n);
/// Clears the fault, as in a new process.
void clear_fault();

/// For the runtime: a call that neither starts work nor waits returns an earlier error; so does a
/// call that starts work; a call that waits or queries returns the fault itself.
cudaError_t found_fault();
cudaError_t begin_work();
cudaError_t find_fault();

}  // namespace farfield::emulation
