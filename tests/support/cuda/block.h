#pragma once
// The threads of one block, each on a fiber of its own once it has to wait. A thread runs until it
// waits for others: at a barrier, at a warp operation, or because it has finished. So a kernel
// without either never changes stacks, and memory operations in between are atomic.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "tests/support/cuda/copy_bulk.h"
#include "tests/support/cuda/fibers.h"
#include "tests/support/cuda/shared_memory.h"
#include "tests/support/cuda/vector_types.h"
#include "tests/support/cuda/where.h"

namespace farfield::emulation {

/// A kernel with its arguments, and how it was launched.
struct Launch {
  const void* kernel;
  void (*call)(const void* kernel, void** arguments);
  void** arguments;
  dim3 grid, block;
  size_t dynamic_shared_bytes;
};

/// Which of the threads that can run runs next.
enum class Order { forward, backward };

/// An operation for which the threads of a warp that a mask names wait for each other.
struct WarpOperation {
  const char* name;
  unsigned mask;
  Where where;
  /// Called once all lanes have arrived, with the argument of each, null for lanes outside the
  /// mask; the same function for the same operation.
  void (*complete)(void* const* lanes);
};

/// An asynchronous copy to shared memory; zeros when `from` is null.
struct Copy {
  void* to;
  const void* from;
  size_t size_bytes;
};
/// Copies that a thread has not waited for, and the number of them at the end of each group.
struct Copies {
  std::vector<Copy> begun;
  std::vector<size_t> group_ends;
};

class Block {
 public:
  Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  /// Runs all threads of one block. What a thread throws ends the block and is thrown here, once
  /// the stacks of the others are unwound. BackendError when threads wait for what cannot come.
  void run(const Launch& launch, uint3 index, Order order, Poison poison);
  bool is_running() const { return launch_ != nullptr; }
  /// For the block that ran last.
  size_t static_shared_bytes() const { return shared_.static_bytes(); }

  /// For the thread that runs.
  void barrier(Where where);
  void warp(const WarpOperation& operation, void* lane);
  [[noreturn]] void fail_shuffle(int lane, int source) const;
  unsigned char* shared_object(const void* key, size_t size_bytes, Where where);
  unsigned char* dynamic_shared(Where where);
  /// The copy is made when the thread waits; until then its target is poison.
  void copy_async(const Copy& copy);
  void end_copy_group();
  void wait_for_copies();
  void wait_for_copy_groups(size_t n_later);
  /// Copies that a barrier in shared memory counts; their targets are poison until a thread has
  /// waited.
  void init_copy_barrier(const void* barrier, int n_announce);
  void expect_bulk_copies(const void* barrier, size_t n_bytes);
  void copy_in_bulk(const void* barrier, BulkCopy copy);
  void wait_for_bulk_copies(const void* barrier, unsigned parity, Where where);

  /// Threads that have started and not finished.
  int n_suspended() const { return fibers_.size() - 1 - static_cast<int>(idle_.size()); }

 private:
  enum class State : uint8_t { ready, at_barrier, at_copies, in_warp, finished };
  struct Thread {
    uint3 index;
    State state;
    int fiber;  // kNoFiber before it starts
    Where where;
    const WarpOperation* operation;
    void* lane;
  };
  static constexpr int kNoFiber = -1;
  static constexpr int kWarp = 32;

  void work(int fiber);
  void run_thread();
  void wait(int warp);
  int first_warp() const;
  bool choose_next(int warp);
  void resume_current();
  void cancel_all();
  void set_ready(int first, unsigned lanes);
  void wake_at_copies();
  std::string deadlock() const;
  std::string describe(const Thread& thread) const;
  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const;
  std::string where() const;
  Copies& copies_of_current() { return copies_[static_cast<size_t>(current_)]; }
  Thread& thread(int i) { return threads_[static_cast<size_t>(i)]; }
  const Thread& thread(int i) const { return threads_[static_cast<size_t>(i)]; }

  const Launch* launch_ = nullptr;
  Order order_ = Order::forward;
  std::vector<Thread> threads_;
  std::vector<unsigned> ready_;    // of each warp, the lanes that can run
  std::vector<unsigned> arrived_;  // of each warp, the lanes that wait at a warp operation
  int current_ = 0;
  int n_at_barrier_ = 0;
  int n_finished_ = 0;
  Where barrier_where_ = {};
  std::exception_ptr error_;
  bool is_cancelling_ = false;
  bool is_ending_ = false;
  SharedMemory shared_;
  Poison poison_ = Poison::nan;
  std::vector<Copies> copies_;  // of each thread
  CopyBarriers copy_barriers_;
  Fibers fibers_;
  std::vector<int> idle_;
};

/// The block of the calling thread of the host.
Block& this_block();

}  // namespace farfield::emulation
