#pragma once

#include <cstdint>
#include <memory>

#include "engine/comm/communicator.h"
#include "engine/distributed/device_group.h"
#include "engine/tensor.h"

namespace farfield {

/// The processes that share work on tensors, and what they do with those together. Every process
/// makes the same calls in the same order with tensors of one size, on its own device: in host
/// memory by comm::Communicator, on CUDA devices by NCCL.
///
/// Tensors are without gradient history. A sum has the same bits in every process; that of tensors
/// on the CPU is in the order of a tree, as Communicator's. DeviceError for a device that this
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
  /// Of the host: texts, agreement.
  comm::Communicator& communicator() const { return *communicator_; }

  /// x becomes the sum over all processes: float32 or float64.
  void sum(Tensor x) const;
  /// The sum over all processes of a float32 tensor, of which each has its own part afterwards; the
  /// rest of it is spoilt. Parts and units are those of Communicator::part().
  void reduce_scatter(Tensor flat, int64_t unit) const;
  /// From each its own part, in all.
  void all_gather(Tensor flat, int64_t unit) const;
  comm::Range own_part(int64_t n, int64_t unit) const { return communicator_->own_part(n, unit); }

  /// reduce_scatter() that a device makes beside what it is given until finish(); the CPU at once.
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
