#include "engine/cuda/kernel_memory.h"

#include <cuda_runtime.h>

#include <map>
#include <mutex>
#include <unordered_map>

#include "engine/cuda/check.h"
#include "engine/cuda/kernel_name.h"

namespace farfield::detail {
namespace {

// What the runtime reports about a kernel on one device, and the settings it was given.
struct Asked {
  size_t own_bytes;
  size_t dynamic_bytes = kPlainSharedBytes - own_bytes;  // that a launch may give
  bool prefers_shared = false;
};

// One table for all threads, locked while the runtime gets a setting: the last setting holds, and
// one thread must not set less than another counts on.
struct Table {
  std::mutex mutex;
  std::map<int, std::unordered_map<const void*, Asked>> of_device;
};
Table& table() {
  static auto* const all = new Table;  // never destroyed: static objects may still launch
  return *all;
}

size_t own_shared_bytes(const void* kernel) {
  cudaFuncAttributes attributes = {};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel), "launch of ", kernel_name(kernel));
  return attributes.sharedSizeBytes;
}

void prefer_shared_memory(const void* kernel) {
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "the shared memory of ", kernel_name(kernel));
}

void allow_shared_bytes(const void* kernel, size_t shared_bytes, int device) {
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (status == cudaSuccess) return;
  int most = 0;
  cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "the shared memory of cuda:", device);
  require<BackendError>(
      shared_bytes <= static_cast<size_t>(most), "cuda", "launch of ", kernel_name(kernel),
      ": expected at most ", most, " bytes of shared memory, all that a block of cuda:", device,
      " may have, got ", shared_bytes, "; use smaller sizes, a narrower type, or the device cpu");
  cuda_check(status, "launch of ", kernel_name(kernel), " with ", shared_bytes,
             " bytes of dynamic shared memory");
}

}  // namespace

void prepare_shared_memory(const void* kernel, size_t shared_bytes) {
  int device = 0;
  cuda_check(cudaGetDevice(&device), "the device of this thread");
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  auto& of_kernel = all.of_device[device];
  auto found = of_kernel.find(kernel);
  if (found == of_kernel.end())
    found = of_kernel.emplace(kernel, Asked{own_shared_bytes(kernel)}).first;
  Asked& asked = found->second;
  if (!asked.prefers_shared && asked.own_bytes + shared_bytes >= kManySharedBytes) {
    prefer_shared_memory(kernel);
    asked.prefers_shared = true;
  }
  if (shared_bytes > asked.dynamic_bytes) {
    allow_shared_bytes(kernel, shared_bytes, device);
    asked.dynamic_bytes = shared_bytes;
  }
}

}  // namespace farfield::detail
