#pragma once

#include "engine/distributed/group.h"
#include "engine/shard.h"

namespace farfield {

// Tensors of which each process of a group has a shard, as one process would have them: what a
// checkpoint keeps, so that any number of processes can read it. Copies, bit for bit.

/// The whole tensor, on the CPU, in the first process of the group; undefined in the others. All of
/// them call it, with shards in the order of their ranks.
Tensor gather_whole(const Tensor& own, const Shard& shard, const Group& group);
/// A process's own part of a whole tensor, on its device. ShapeError when that is not of the size
/// that the shard is a part of.
Tensor own_shard(const Tensor& whole, const Shard& shard);

}  // namespace farfield
