#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/device.h"

namespace farfield::run {

/// As its maker calls it; "unknown" where the system does not say.
std::string processor_name();
/// What tells the times of one machine from those of another: its name in the network, processor,
/// number of processors; for a device of its own the device's name too.
std::string machine_name(const Device& device);

/// Bytes that this process may still take from a device without harm to others: on the CPU what
/// available_memory() says, on CUDA what is free there. 0: not known.
int64_t available_bytes(const Device& device);

/// The host's MemAvailable, or what the limit of this process's control group (version 2 or 1)
/// leaves if that is less; memory of files that can be dropped counts as free. 0: not known.
/// `root` is where /proc and /sys lie.
int64_t available_memory(const std::filesystem::path& root = "/");

/// Memory that this process has resident, in bytes: now, and the most since its start or since
/// reset_peak_resident(). 0: not known.
int64_t resident_bytes();
int64_t peak_resident_bytes();
/// Gives back what is freed but kept by the process, so that the next use of it counts. False where
/// the system does not allow it.
bool reset_peak_resident();

}  // namespace farfield::run
