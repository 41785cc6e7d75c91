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

/// What the processes of a job do together. Every process has to make the same calls in the same
/// order, with spans of the same size. Without a transport there is one process, and all of it
/// costs nothing.
///
/// Sums are float32 or float64, added in the order of a binary tree over the ranks,
/// ((0 + 1) + (2 + 3)) + ..., whatever the size of a message: the same bits in every process and in
/// every run. Bytes sent by each of P processes for n bytes: 2 n (P - 1) / P, in 2 log2(P)
/// messages.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}
  /// The processes of these ranks alone, in this order, of which this is one; nobody waits. Groups
  /// without a pair of processes in common may be used by two threads at once.
  Communicator among(const std::vector<int>& ranks) const;

  int rank() const { return transport_ ? transport_->rank() : 0; }
  int size() const { return transport_ ? transport_->size() : 1; }
  bool is_alone() const { return size() == 1; }
  bool is_first() const { return rank() == 0; }
  /// "one process", "4 processes by TCP".
  std::string description() const;

  /// The sum over all processes, in all of them.
  void sum(std::span<float> values);
  void sum(std::span<double> values);
  /// The sum over all processes, of which each has its own part afterwards; the rest of `values`
  /// is spoilt.
  void reduce_scatter(std::span<float> values, int64_t unit = 1);
  /// From each its own part, in all.
  void all_gather(std::span<float> values, int64_t unit = 1);
  /// The part of n elements that a process has of reduce_scatter() and all_gather(). Parts are
  /// whole units, but for the end of the last, differ by one of them in size, and not each is
  /// behind that of the rank before.
  Range part(int64_t n, int rank, int64_t unit = 1) const;
  Range own_part(int64_t n, int64_t unit = 1) const { return part(n, rank(), unit); }

  /// To one process, which receives it, and the other way round.
  void send(std::span<const std::byte> bytes, int to);
  void receive(std::span<std::byte> bytes, int from);
  /// What `root` has, in all.
  void broadcast(std::span<std::byte> bytes, int root = 0);
  std::string broadcast(const std::string& text, int root = 0);
  /// What each has, by rank, in all.
  std::vector<std::string> gather(const std::string& text);
  /// The largest that any has.
  int64_t maximum(int64_t value);
  /// Until all are there.
  void wait_for_all() { maximum(0); }
  /// The first process that is known to have ended, or kNobody (Transport::has_ended).
  int first_ended() const;
  /// ConfigError, in all of them, naming the first process that differs: for what must be equal, as
  /// the configuration and the build.
  void require_equal(const std::string& what, const std::string& text);

 private:
  template <class T>
  void sum_of(std::span<T> values);

  std::shared_ptr<Transport> transport_;
};

}  // namespace farfield::comm
