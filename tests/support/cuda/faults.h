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
/// As if there had been no fault: what a process that is started anew has.
void clear_fault();

/// For the runtime: of a call that is no work and does not wait, an error where one was found
/// before; of work that is begun, the same; and what somebody who waits or asks is told.
cudaError_t found_fault();
cudaError_t begin_work();
cudaError_t find_fault();

}  // namespace farfield::emulation
