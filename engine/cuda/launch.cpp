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
  if (status != cudaSuccess)
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
