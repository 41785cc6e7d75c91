#pragma once

#include <cstdint>
#include <memory>

#include "engine/comm/communicator.h"
#include "engine/distributed/device_group.h"
#include "engine/tensor.h"

namespace farfield {

/// The processes that share work on tensors, and their collective operations. Every process makes
/// the same calls in the same order with tensors of one size, on its own device: in host memory by
/// comm::Communicator, on CUDA devices by NCCL.
///
/// Tensors are without gradient history. A sum has the same bits in every process; tensors on the
/// CPU are summed in the order of a tree, as by Communicator. DeviceError for a device that this
/// build has no way to others from.
class Group {
 public:
  /// One process.
  Group() = default;
  explicit Group(std::shared_ptr<comm::Communicator> communicator);

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  bool is_alone() const { return size() == 1; }
  bool is_first() const { return rank() == 0; }
  /// Collective operations of the host: texts, agreement.
  comm::Communicator& communicator() const { return *communicator_; }

  /// x becomes the sum over all processes: float32 or float64.
  void sum(Tensor x) const;
  /// Sums a float32 tensor over all processes; afterwards each has its own part of the sum, and the
  /// rest of the tensor is spoilt. Parts and units as in Communicator::part().
  void reduce_scatter(Tensor flat, int64_t unit) const;
  /// Collects each process's own part, in all processes.
  void all_gather(Tensor flat, int64_t unit) const;
  comm::Range own_part(int64_t n, int64_t unit) const { return communicator_->own_part(n, unit); }

  /// reduce_scatter() that a device makes concurrently with its other work until finish(); the CPU
  /// makes it at once.
  void begin_reduce_scatter(Tensor flat, int64_t unit) const;
  void finish(const Device& device) const;

 private:
  /// Made by its first use, in all processes.
  DeviceGroup& on(const Device& device) const;

  std::shared_ptr<comm::Communicator> communicator_ = std::make_shared<comm::Communicator>();
  struct OnDevice;
  std::shared_ptr<OnDevice> on_device_;
};

}  // namespace farfield
