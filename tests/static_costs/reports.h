#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace farfield::static_costs {

/// A kernel by its mangled name and the architecture: 80 for sm_80.
using KernelKey = std::pair<std::string, int>;

/// Resources of a multiprocessor that a kernel uses.
struct Resources {
  int64_t registers = 0;  ///< of a thread
  int64_t spill_bytes = 0;
  int64_t shared_bytes = 0;  ///< of a block, without dynamic memory of the launch
};

/// The report of ptxas on each kernel (nvcc --resource-usage).
std::map<KernelKey, Resources> read_ptxas(std::string_view report);

/// Threads of a block at their most, of the kernels that have launch bounds, from what
/// `cuobjdump -elf` prints.
std::map<KernelKey, int64_t> read_launch_bounds(std::string_view listing);

/// Blocks that a multiprocessor holds at once; 0 for an architecture that is not known.
/// Source    CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; units
/// in
///           which registers, warps and shared memory are given out: cuda_occupancy.h
int64_t resident_blocks(int sm, int64_t n_thread, const Resources& of_kernel);

/// "split_heads_kernel<8, BFloat16>": of a mangled name, without namespaces of our own, result and
/// parameters.
std::string short_name(const std::string& mangled);

}  // namespace farfield::static_costs
