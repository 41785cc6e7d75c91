#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace farfield::comm {

inline constexpr int kNobody = -1;

struct Outgoing {
  int to = kNobody;
  std::span<const std::byte> bytes = {};
};
struct Incoming {
  int from = kNobody;
  std::span<std::byte> bytes = {};
};

/// Bytes between the processes of one job, numbered from 0. Two threads may call at once
/// when none of the processes that they name is the same.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "MPI (Open MPI 4.1.4)", "TCP".
  virtual std::string name() const = 0;
  /// Sends to one process while it receives from one; both sides know how much. Waits for both, and
  /// yields the processor meanwhile. BackendError, naming the process, if a process has ended.
  virtual void exchange(const Outgoing& out, const Incoming& in) = 0;
  /// Whether a process is known to have ended, without waiting; any thread may ask. Under MPI it is
  /// not known: mpirun and srun end all processes when one fails.
  virtual bool has_ended(int) const { return false; }

 protected:
  Transport(int rank, int size) : rank_(rank), size_(size) {}

 private:
  int rank_, size_;
};

}  // namespace farfield::comm
