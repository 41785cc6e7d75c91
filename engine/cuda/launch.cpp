#include "engine/cuda/launch.h"

#include <cstdlib>
#include <string_view>

#include "engine/cuda/check.h"
#include "engine/cuda/kernel_name.h"

namespace farfield {
namespace {

std::string describe(dim3 size) { return concat('(', size.x, ", ", size.y, ", ", size.z, ')'); }

bool& waits() {
  static bool each = [] {
    const char* const said = std::getenv("FARFIELD_CUDA_SYNC");
    return said != nullptr && std::string_view(said) == "1";
  }();
  return each;
}

}  // namespace

namespace detail {

void prefer_shared_memory(const void* kernel) {
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "the shared memory of ", kernel_name(kernel));
}

void allow_shared_bytes(const void* kernel, size_t shared_bytes) {
  const cudaError_t status = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (status == cudaSuccess) return;
  int index = 0, most = 0;
  cuda_check(cudaGetDevice(&index), "the device of this thread");
  cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, index),
             "the shared memory of cuda:", index);
  require<BackendError>(
      shared_bytes <= static_cast<size_t>(most), "cuda", "launch of ", kernel_name(kernel),
      ": expected at most ", most, " bytes of shared memory, all that a block of cuda:", index,
      " may have, got ", shared_bytes, "; use smaller sizes, a narrower type, or the device cpu");
  cuda_check(status, "launch of ", kernel_name(kernel), " with ", shared_bytes,
             " bytes of dynamic shared memory");
}

void check_launch(cudaError_t status, const void* kernel, dim3 grid, dim3 block,
                  size_t shared_bytes, cudaStream_t stream) {
  if (status == cudaSuccess && !waits_for_each_launch()) [[likely]]
    return;
  const std::string what =
      concat(kernel_name(kernel), " with grid ", describe(grid), ", block ", describe(block), ", ",
             shared_bytes, " bytes of dynamic shared memory");
  cuda_check(status, "launch of ", what);
  wait_for_launch(stream, "work of " + what);
}

}  // namespace detail

bool waits_for_each_launch() { return waits(); }
void wait_for_each_launch(bool each) { waits() = each; }

void wait_for_launch(cudaStream_t stream, const std::string& what) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cuda_check(cudaStreamIsCapturing(stream, &status), what);
  if (status == cudaStreamCaptureStatusNone) cuda_check(cudaStreamSynchronize(stream), what);
}

}  // namespace farfield
