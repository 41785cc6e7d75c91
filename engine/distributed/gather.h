#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/distributed/group.h"
#include "engine/parameter.h"

namespace farfield {

// Whole tensors from the shards of a group's processes, bit for bit: a checkpoint holds whole
// tensors, so that any number of processes can read it.

/// The whole tensor, on the CPU, in the first process of the group; undefined in the others. All of
/// them call it, with shards in the order of their ranks.
Tensor gather_whole(const Tensor& own, const Shard& shard, const Group& group);
/// A process's own shard of a whole tensor, on its device. ShapeError if the whole tensor has
/// another size than the shards together.
Tensor own_shard(const Tensor& whole, const Shard& shard);

// The same for tensors by name: the parameters, and the optimizer's state of each,
// "<parameter>.<moment>". All processes have all other tensors.

/// Empty but in the first process. One tensor is gathered after the other, so that only the first
/// process needs memory for whole ones.
std::vector<std::pair<std::string, Tensor>> gather_whole(
    const std::vector<std::pair<std::string, Tensor>>& own,
    const std::vector<Parameter>& parameters, const Group& group);
std::map<std::string, Tensor> own_shards(const std::map<std::string, Tensor>& whole,
                                         const std::vector<Parameter>& parameters);

}  // namespace farfield
