#pragma once
// From a device, known at run time, to the overload of a kernel. For the engine alone: other
// folders call ops.

#include <utility>

#include "engine/device.h"
#include "engine/work_clock.h"

namespace farfield {

#ifdef FARFIELD_HAS_CUDA
/// The tag of a device, with its stream; makes it the current device of this thread. DeviceError if
/// the device is missing or too old.
Cuda cuda_tag(const Device& device);
#endif

/// Calls f with the tag of the device. A build without CUDA has no second branch, so it needs no
/// stub kernels. A WorkClock of this thread times f on the CPU as work of the calling place.
template <class F>
decltype(auto) dispatch(const Device& device, F&& f,
                        const WorkPlace& place = {__builtin_FILE(), __builtin_LINE()}) {
#ifdef FARFIELD_HAS_CUDA
  if (device.kind == Device::Kind::cuda) return f(cuda_tag(device));
#endif
  require<DeviceError>(device.kind == Device::Kind::cpu, "device", "expected cpu, got ", device,
                       "; this build has no CUDA, configure with FARFIELD_CUDA=ON");
  const WorkClock::Timing timing(place);
  return f(Cpu{});
}

}  // namespace farfield
