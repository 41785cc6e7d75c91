#include "engine/cuda/context.h"

#include "engine/cuda/check.h"
#include "engine/cuda/per_device.h"
#include "engine/cuda/stream.h"
#include "engine/dispatch.h"

namespace farfield {
namespace {

DeviceInfo info_of(int index) {
  cudaDeviceProp properties;
  cuda_check(cudaGetDeviceProperties(&properties, index), "the properties of cuda:", index);
  return {properties.name, properties.major, properties.minor,
          static_cast<int64_t>(properties.totalGlobalMem)};
}

}  // namespace

void require_device(int index) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  require<DeviceError>(status != cudaErrorInsufficientDriver, "device", "cuda:", index,
                       " asked for, but there is no NVIDIA driver, or one older than this build's "
                       "CUDA; install a newer driver or use the device cpu");
  require<DeviceError>(status != cudaErrorNoDevice && !(status == cudaSuccess && count == 0),
                       "device", "cuda:", index,
                       " asked for, but the driver finds no GPU; use the device cpu");
  cuda_check(status, "the search for devices");
  require<DeviceError>(index < count, "device", "expected one of ", count,
                       " GPUs, counted from cuda:0, got cuda:", index);
  const DeviceInfo info = info_of(index);
  require<DeviceError>(info.major >= 8, "device",
                       "expected a GPU of compute capability 8.0 or later, ", "got cuda:", index,
                       " of ", info.major, '.', info.minor, "; use the device cpu");
}

Cuda cuda_tag(const Device& device) {
  static auto* const streams = new PerDevice<Stream>;
  const int index = device.index;
  Stream& stream = streams->at(index, [index] {
    require_device(index);
    cuda_check(cudaSetDevice(index), "the choice of cuda:", index);
    return std::make_unique<Stream>();
  });
  // A thread allocates memory on the device that it chose last.
  cuda_check(cudaSetDevice(index), "the choice of cuda:", index);
  return {index, stream.get()};
}

size_t most_shared_bytes(Cuda device) {
  static auto* const all = new PerDevice<size_t>;
  const int index = device.index;
  return all->at(index, [index] {
    int most = 0;
    cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, index),
               "the shared memory of cuda:", index);
    return std::make_unique<size_t>(static_cast<size_t>(most));
  });
}

bool multiplies_by_warpgroups([[maybe_unused]] Cuda device) {
#ifdef FARFIELD_HAS_SM90A
  static auto* const all = new PerDevice<bool>;
  const int index = device.index;
  return all->at(index, [index] {
    const DeviceInfo info = info_of(index);
    return std::make_unique<bool>(info.major == 9 && info.minor == 0);
  });
#else
  return false;
#endif
}

void synchronize(Cuda device) {
  cuda_check(cudaStreamSynchronize(stream_of(device)), "work of cuda:", device.index);
}

DeviceInfo device_info(Cuda device) { return info_of(device.index); }

}  // namespace farfield
