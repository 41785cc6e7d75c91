#include "engine/cuda/launch.h"

#include "engine/cuda/check.h"
#include "engine/cuda/kernel_name.h"

namespace farfield::detail {
namespace {

std::string describe(dim3 size) { return concat('(', size.x, ", ", size.y, ", ", size.z, ')'); }

}  // namespace

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
                  size_t shared_bytes) {
  if (status != cudaSuccess)
    cuda_check(status, "launch of ", kernel_name(kernel), " with grid ", describe(grid), ", block ",
               describe(block), ", ", shared_bytes, " bytes of dynamic shared memory");
}

}  // namespace farfield::detail
