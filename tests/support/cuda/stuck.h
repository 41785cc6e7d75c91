#pragma once
// A device whose work waits for a process that does not come: what it was given before is done,
// what it is given later is not, and a host that waits for it does so until it gives up.

namespace farfield::emulation {

/// Of this process.
bool is_stuck();
void set_stuck(bool is_stuck);
/// What a host does that waits for the device; false after a minute, in place of for ever.
bool wait_while_stuck();

}  // namespace farfield::emulation
