#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/device.h"

namespace farfield::run {

/// As its maker calls it; "unknown" where the system does not say. `root` is where /proc lies.
std::string processor_name(const std::filesystem::path& root = "/");
/// A name that identifies the machine of a measured time: its host name, processor and number of
/// processors, and the name of a device.
std::string machine_name(const Device& device);

/// Bytes that this process may still allocate on a device without harm to others: on the CPU
/// available_memory(), on CUDA the free memory. 0: not known.
int64_t available_bytes(const Device& device);

/// The host's MemAvailable, or the rest under the limit of this process's control group (version 2
/// or 1) if that is less; file caches that can be dropped count as free. 0: not known. `root` is
/// where /proc and /sys lie.
int64_t available_memory(const std::filesystem::path& root = "/");

/// Memory that this process has resident, in bytes: now, and the most since its start or since
/// reset_peak_resident(). 0: not known.
int64_t resident_bytes();
int64_t peak_resident_bytes();
/// Returns freed memory that the process has cached to the system, so that its next use counts.
/// False if the system does not allow it.
bool reset_peak_resident();

}  // namespace farfield::run
