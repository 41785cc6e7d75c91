#pragma once

#include <cstdint>

namespace farfield::bench {

/// The time of a message: latency_s, plus its bytes at bytes_per_s.
struct Link {
  double latency_s = 0;
  double bytes_per_s = 1;
};

/// How processes sum: in halves with one partner after the other (log2 P messages; Farfield's way
/// on the CPU), or around a ring (P - 1 messages).
enum class Pattern { tree, ring };

/// A step of training that processes share.
struct SharedStep {
  double compute_s = 0;    ///< forward and backward of the whole batch in one process
  double update_s = 0;     ///< the optimizer, of all parameters in one process
  double n_parameter = 0;  ///< float32 gradients and weights, which go around once each
  double n_bucket = 1;     ///< messages that the gradients are sent in
  bool overlaps = true;    ///< gradients are summed while backward computes others
};

/// The places of the processes: per_node processes share `inside`, and each has `between` to
/// processes on other nodes.
struct Cluster {
  Link inside, between;
  int64_t per_node = 1;
};

/// The time of one step with P processes, in seconds.
struct SharedTime {
  double compute = 0;  ///< forward and backward, of a P-th of the batch
  double reduce = 0;   ///< summing gradients, so that each has its part
  double exposed = 0;  ///< the part of `reduce` that backward does not hide
  double update = 0;   ///< of a P-th of the parameters
  double gather = 0;   ///< the new weights
  double total() const { return compute + exposed + update + gather; }
};

/// The formula (bench scaling prints it):
///   reduce = gather = buckets x messages x latency + (P - 1) / P x 4 bytes x parameters /
///                     bandwidth
///   messages = log2 P (tree) or P - 1 (ring); with nodes, first among the processes of a node,
///              then a per_node-th of the bytes between nodes; gathered in one message per bucket
///              too
///   exposed = reduce, or the rest that a backward of 2/3 of compute does not hide, at least a
///             bucket
///   step = compute / P + exposed + update / P + gather
/// Source    Thakur, Rabenseifner and Gropp 2005, "Optimization of collective communication
///           operations in MPICH", sections 3 and 4
SharedTime predict(const SharedStep& step, int64_t n_process, const Cluster& cluster,
                   Pattern pattern);

}  // namespace farfield::bench
