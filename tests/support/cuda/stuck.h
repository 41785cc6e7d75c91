#pragma once
// A device whose work waits for a process that never comes: earlier work is done, later work is
// not, and a host that waits for the device waits until it gives up.

namespace farfield::emulation {

/// Whether the device of this process is stuck.
bool is_stuck();
void set_stuck(bool is_stuck);
/// Waits as a host that waits for the device; false after a minute, instead of for ever.
bool wait_while_stuck();

}  // namespace farfield::emulation
