#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/transport.h"

namespace farfield::comm {

/// A range of elements [begin, end).
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// Collective operations of the processes of a job. Every process must make the same calls in the
/// same order, with spans of the same size. Without a transport there is one process, and the calls
/// cost nothing.
///
/// Sums are float32 or float64, added in the order of a binary tree over the ranks,
/// ((0 + 1) + (2 + 3)) + ..., whatever the size of a message: the same bits in every process and in
/// every run. Bytes sent by each of P processes for n bytes: 2 n (P - 1) / P, in 2 log2(P)
/// messages.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}
  /// The group of these ranks, in this order, which must include this process; does not wait. Two
  /// threads may use two groups at once if the groups have no pair of processes in common.
  Communicator among(const std::vector<int>& ranks) const;

  int rank() const { return transport_ ? transport_->rank() : 0; }
  int size() const { return transport_ ? transport_->size() : 1; }
  bool is_alone() const { return size() == 1; }
  bool is_first() const { return rank() == 0; }
  /// "one process", "4 processes by TCP".
  std::string description() const;

  /// All-reduce: the sum over all processes, in all of them.
  void sum(std::span<float> values);
  void sum(std::span<double> values);
  /// Sums over all processes; afterwards each has its own part of the sum, and the rest of `values`
  /// is spoilt.
  void reduce_scatter(std::span<float> values, int64_t unit = 1);
  /// Collects each process's own part, in all processes.
  void all_gather(std::span<float> values, int64_t unit = 1);
  /// The part of n elements that a process has in reduce_scatter() and all_gather(). Parts are
  /// whole units, except at the end of the last part, and differ in size by one unit at most. Parts
  /// do not always follow the order of ranks.
  Range part(int64_t n, int rank, int64_t unit = 1) const;
  Range own_part(int64_t n, int64_t unit = 1) const { return part(n, rank(), unit); }

  /// Point-to-point: sends to a process that receives, or receives from a process that sends.
  void send(std::span<const std::byte> bytes, int to);
  void receive(std::span<std::byte> bytes, int from);
  /// Copies the bytes of `root` to all processes.
  void broadcast(std::span<std::byte> bytes, int root = 0);
  std::string broadcast(const std::string& text, int root = 0);
  /// The values of all processes, by rank, in all.
  std::vector<std::string> gather(const std::string& text);
  /// The largest value of any process.
  int64_t maximum(int64_t value);
  /// Waits until all processes have called this.
  void wait_for_all() { maximum(0); }
  /// The first process that is known to have ended, or kNobody (Transport::has_ended).
  int first_ended() const;
  /// Checks values that must be equal, such as the configuration and the build: ConfigError, in all
  /// processes, naming the first process that differs.
  void require_equal(const std::string& what, const std::string& text);

 private:
  template <class T>
  void sum_of(std::span<T> values);

  std::shared_ptr<Transport> transport_;
};

}  // namespace farfield::comm
