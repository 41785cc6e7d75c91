#pragma once

#include <cstdint>
#include <memory>

#include "engine/comm/communicator.h"
#include "engine/tensor.h"

namespace farfield {

/// What the processes of a group do together with tensors in the memory of their devices: what
/// Group offers, beside what a device was given before. All of them make the same calls in the same
/// order, none of which waits for the device. Sums have the same bits in every process, but not the
/// order of Communicator's.
class DeviceGroup {
 public:
  DeviceGroup() = default;
  virtual ~DeviceGroup() = default;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  // Each begins when the device has done what it was given so far; errors are BackendError.
  virtual void sum(Tensor& x) = 0;
  virtual void reduce_scatter(Tensor& flat, int64_t unit) = 0;
  virtual void all_gather(Tensor& flat, int64_t unit) = 0;
  /// What the device is given from now on begins when all of these are done. BackendError when one
  /// of them is known to have failed.
  virtual void join() = 0;
};

/// That of `processes`, which outlives it and all of which call this, each with a device of its
/// own: by NCCL. DeviceError in a build without it.
std::unique_ptr<DeviceGroup> make_device_group(comm::Communicator& processes, const Device& device);

}  // namespace farfield
