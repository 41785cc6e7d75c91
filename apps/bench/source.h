#pragma once

#include <cstdint>
#include <string>

#include "engine/device.h"

namespace farfield::bench {

/// The hardware behind the figures, with `n_process` processes of as many threads as this one has:
/// "NVIDIA H200 beside AMD EPYC, 2 threads, avx2, oneDNN 2.6.3".
std::string machine_here(const Device& device = {}, int64_t n_process = 1);

/// The line below a table in Markdown, with the origin of its figures: "MACHINE; 2026-11-27, commit
/// da1a9af8daf0, GNU 12.2.0; `bench step`". argv[0] is the command.
std::string source_line(const std::string& machine, int argc, const char* const* argv);

}  // namespace farfield::bench
