#pragma once

#include <cstdint>
#include <memory>

#include "engine/comm/communicator.h"
#include "engine/tensor.h"

namespace farfield {

/// Collective operations of a group on tensors in the memory of their devices, queued behind
/// earlier work of each device. All processes make the same calls in the same order; no call waits
/// for the device. Sums have the same bits in every process, but not the order of Communicator's
/// sums.
class DeviceGroup {
 public:
  DeviceGroup() = default;
  virtual ~DeviceGroup() = default;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  // Each begins after the device's earlier work; errors are BackendError.
  virtual void sum(Tensor& x) = 0;
  virtual void reduce_scatter(Tensor& flat, int64_t unit) = 0;
  virtual void all_gather(Tensor& flat, int64_t unit) = 0;
  /// Later work of the device begins when all of these are done. BackendError if one of them is
  /// known to have failed.
  virtual void join() = 0;
};

/// The group of `processes`, by NCCL. `processes` must outlive it; all processes call this, each
/// with its own device. DeviceError in a build without NCCL.
std::unique_ptr<DeviceGroup> make_device_group(comm::Communicator& processes, const Device& device);

}  // namespace farfield
