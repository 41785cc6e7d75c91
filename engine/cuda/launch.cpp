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
