#pragma once
// Stacks that take turns on one thread of the host. Boost.Context changes stacks without a system
// call; the numbers are in third_party/README.md.

#include <functional>
#include <memory>
#include <vector>

namespace farfield::emulation {

/// Fiber 0 is the caller itself. Every other one runs body(id) from its first turn on; when the
/// body returns, the fiber is gone and fiber 0 goes on. No exception may leave the body, and none
/// may be in its body when this is destroyed.
class Fibers {
 public:
  explicit Fibers(std::function<void(int id)> body);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  ~Fibers();

  /// A new fiber, which waits for its first turn.
  int create();
  /// Gives the turn to a fiber that waits; returns when it is given back.
  void switch_to(int id);
  int current() const { return current_; }
  int size() const { return static_cast<int>(slots_.size()); }

 private:
  struct Slot;
  Slot& slot(int id) { return *slots_[static_cast<size_t>(id)]; }

  std::function<void(int)> body_;
  std::vector<std::unique_ptr<Slot>> slots_;
  int current_ = 0;
  int previous_ = 0;
};

}  // namespace farfield::emulation
