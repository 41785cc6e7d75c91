#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/distributed/group.h"
#include "engine/parameter.h"

namespace farfield {

// Tensors of which each process of a group has a shard, as one process would have them: what a
// checkpoint keeps, so that any number of processes can read it. Copies, bit for bit.

/// The whole tensor, on the CPU, in the first process of the group; undefined in the others. All of
/// them call it, with shards in the order of their ranks.
Tensor gather_whole(const Tensor& own, const Shard& shard, const Group& group);
/// A process's own part of a whole tensor, on its device. ShapeError when that is not of the size
/// that the shard is a part of.
Tensor own_shard(const Tensor& whole, const Shard& shard);

// The same for tensors by name: those of the parameters, and what an optimizer keeps of each,
// "<parameter>.<moment>". Others all have.

/// Empty but in the first process. One tensor is gathered after the other, so that only the first
/// process needs memory for whole ones.
std::vector<std::pair<std::string, Tensor>> gather_whole(
    const std::vector<std::pair<std::string, Tensor>>& own,
    const std::vector<Parameter>& parameters, const Group& group);
std::map<std::string, Tensor> own_shards(const std::map<std::string, Tensor>& whole,
                                         const std::vector<Parameter>& parameters);

}  // namespace farfield
