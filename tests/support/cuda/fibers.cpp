#include "tests/support/cuda/fibers.h"

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

#include "tests/support/cuda/asan.h"

namespace farfield::emulation {
namespace {

// Of virtual memory, with a guard page below; the sanitizer's frames are several times larger.
constexpr size_t kStackBytes = size_t{kHasAsan ? 256 : 64} << 10;

// Stacks begin at the same place of their pages, so their tops would compete for the same few sets
// of the first-level cache; each begins some lines further down than the one before.
constexpr size_t kColourBytes = 7 * 64, kPageBytes = 4096;

}  // namespace

struct Fibers::Slot {
  boost::context::fiber waiting;  // empty while it runs
  StackNote note;

  // Takes note of the one that gave the turn to this one.
  void arrive(Slot& from, boost::context::fiber&& left) {
    arrive_on_stack(from.note, note);
    from.waiting = std::move(left);
  }
};

Fibers::Fibers(std::function<void(int)> body) : body_(std::move(body)) {
  slots_.push_back(std::make_unique<Slot>());
}

Fibers::~Fibers() = default;

int Fibers::create() {
  namespace context = boost::context;
  const int id = size();
  context::protected_fixedsize_stack allocator(kStackBytes);
  const context::stack_context stack = allocator.allocate();
  // Clears the sanitizer's record of an earlier stack here.
  allow(static_cast<const char*>(stack.sp) - stack.size, stack.size);
  Slot& created = *slots_.emplace_back(std::make_unique<Slot>());
  created.note.bottom = static_cast<const char*>(stack.sp) - stack.size;
  created.note.size_bytes = stack.size;
  const size_t colour = static_cast<size_t>(id) * kColourBytes % kPageBytes;
  const context::preallocated part(static_cast<char*>(stack.sp) - colour, stack.size - colour,
                                   stack);
  // Boost runs the first lines of the new stack right here. The sanitizer must know, or it counts
  // their locals as part of this stack and as dead when an exception passes.
  StackNote self, there;
  leave_stack(self, created.note);
  created.waiting =
      context::fiber(std::allocator_arg, part, allocator, [this, id](context::fiber&& left) {
        slot(id).arrive(slot(previous_), std::move(left));
        body_(id);
        previous_ = std::exchange(current_, 0);
        leave_stack(slot(id).note, slot(0).note);
        return std::move(slot(0).waiting);
      });
  arrive_on_stack(self, there);  // tells the bounds of this stack, which then is gone back to
  leave_stack(there, self);
  arrive_on_stack(there, self);
  return id;
}

// Whoever gives a turn notes both sides first, so the one that gets it knows where it came from.
void Fibers::switch_to(int id) {
  const int self = std::exchange(current_, id);
  previous_ = self;
  leave_stack(slot(self).note, slot(id).note);
  boost::context::fiber left = std::move(slot(id).waiting).resume();
  slot(self).arrive(slot(previous_), std::move(left));
}

}  // namespace farfield::emulation
