#pragma once

#include <filesystem>

#include "engine/base/hash.h"

namespace farfield::data {

/// Adds a file to the hash of a corpus whose format records none: its size, all of up to 4 MiB, and
/// of more 64 blocks of 64 KiB at even distances, the first and the last among them. So a file of
/// any size takes milliseconds; damage between the blocks is not noticed. IoError.
void add_sample(Hasher& hasher, const std::filesystem::path& file);

}  // namespace farfield::data
