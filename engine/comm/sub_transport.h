#pragma once

#include <memory>
#include <vector>

#include "engine/comm/transport.h"

namespace farfield::comm {

/// Some processes of a job, numbered anew: process i is `ranks[i]` of the parent. The transport is
/// the parent's, so an error names a process by its number there.
class SubTransport final : public Transport {
 public:
  /// ConfigError unless `ranks` are ranks of the parent, each once, and its own among them.
  SubTransport(std::shared_ptr<Transport> parent, const std::vector<int>& ranks);

  std::string name() const override { return parent_->name(); }
  void exchange(const Outgoing& out, const Incoming& in) override;
  bool has_ended(int rank) const override { return parent_->has_ended(parent_rank(rank)); }

 private:
  int parent_rank(int rank) const {
    return rank == kNobody ? kNobody : ranks_[static_cast<size_t>(rank)];
  }

  std::shared_ptr<Transport> parent_;
  std::vector<int> ranks_;
};

}  // namespace farfield::comm
