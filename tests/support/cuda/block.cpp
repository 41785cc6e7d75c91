#include "tests/support/cuda/block.h"

#include <bit>
#include <cstring>
#include <iomanip>
#include <map>
#include <utility>

#include "engine/cuda/kernel_name.h"
#include "tests/support/cuda/builtins.h"
#include "tests/support/cuda/devices.h"

namespace farfield::emulation {
namespace {

// Unwinds the stack of a thread whose block has ended.
struct Cancelled {};

constexpr unsigned lanes_of(int n) { return n >= 32 ? ~0u : (1u << n) - 1; }

// "thread 3" or "threads 0-31, 64, 96-127"
std::string describe(const std::vector<int>& threads) {
  std::string text = threads.size() == 1 ? "thread " : "threads ";
  constexpr int kMaxRanges = 6;
  int n_ranges = 0;
  for (size_t i = 0; i < threads.size(); ++n_ranges) {
    size_t last = i;
    while (last + 1 < threads.size() && threads[last + 1] == threads[last] + 1) ++last;
    if (n_ranges == kMaxRanges) return text + ", ...";
    if (n_ranges) text += ", ";
    text += std::to_string(threads[i]);
    if (last > i) text += '-' + std::to_string(threads[last]);
    i = last + 1;
  }
  return text;
}

std::string hex(unsigned mask) { return concat("0x", std::hex, mask); }

}  // namespace

Block::Block() : fibers_([this](int fiber) { work(fiber); }) {}

Block::~Block() {
  is_ending_ = true;
  for (const int fiber : idle_) fibers_.switch_to(fiber);
}

void Block::run(const Launch& launch, uint3 index, Order order, Poison poison) {
  const dim3 size = launch.block;
  const int n_threads = static_cast<int>(size.x * size.y * size.z);
  const int n_warps = (n_threads + kWarp - 1) / kWarp;
  launch_ = &launch;
  order_ = order;
  blockIdx = index;
  blockDim = size;
  gridDim = launch.grid;
  threads_.clear();
  for (unsigned z = 0; z < size.z; ++z)
    for (unsigned y = 0; y < size.y; ++y)
      for (unsigned x = 0; x < size.x; ++x)
        threads_.push_back({{x, y, z}, State::ready, kNoFiber, {}, nullptr, nullptr});
  ready_.assign(static_cast<size_t>(n_warps), ~0u);
  ready_.back() = lanes_of(n_threads - kWarp * (n_warps - 1));
  arrived_.assign(static_cast<size_t>(n_warps), 0u);
  n_at_barrier_ = 0;
  n_finished_ = 0;
  shared_.begin(launch.dynamic_shared_bytes, most_shared_bytes(), poison);
  poison_ = poison;
  for (Copies& copies : copies_) {
    copies.begun.clear();
    copies.group_ends.clear();
  }
  copies_.resize(threads_.size());
  copy_barriers_.clear();

  // Comes back when no thread can go on: all have finished, one has thrown, or they wait in vain.
  choose_next(first_warp());
  resume_current();
  if (!error_ && n_finished_ < n_threads)
    error_ = std::make_exception_ptr(BackendError(concat("[cuda] ", where(), ": ", deadlock())));
  cancel_all();
  if (!error_) {
    if (const auto write = shared_.overwritten())
      error_ = std::make_exception_ptr(BackendError(
          concat("[cuda] ", where(), ": expected accesses inside of ", write->size_bytes,
                 " bytes of ", write->is_dynamic ? "dynamic" : "static",
                 " shared memory, got a write at byte ", write->offset)));
  }
  launch_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

// The work of a fiber: it runs one thread after the other, from beginning to end, until the next
// thread has started on another fiber.
void Block::work(int fiber) {
  while (!is_ending_) {
    run_thread();
    const bool has_next = choose_next(current_ / kWarp);
    if (has_next && thread(current_).fiber == kNoFiber) {
      thread(current_).fiber = fiber;
      continue;
    }
    idle_.push_back(fiber);
    fibers_.switch_to(has_next ? thread(current_).fiber : 0);
  }
}

void Block::run_thread() {
  try {
    launch_->call(launch_->kernel, launch_->arguments);
  } catch (const Cancelled&) {
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  thread(current_).state = State::finished;
  ++n_finished_;
}

int Block::first_warp() const {
  return order_ == Order::forward ? 0 : static_cast<int>(ready_.size()) - 1;
}

// Makes current the next thread that can run: of this warp when there is one, so that a warp gets
// as far as it can and few stacks are in use. False when there is none.
bool Block::choose_next(int warp) {
  if (error_ || is_cancelling_) return false;
  const int n_warps = static_cast<int>(ready_.size());
  const int step = order_ == Order::forward ? 1 : n_warps - 1;
  for (int i = 0; i < n_warps; ++i, warp = (warp + step) % n_warps) {
    unsigned& lanes = ready_[static_cast<size_t>(warp)];
    if (lanes == 0) continue;
    const int lane =
        order_ == Order::forward ? std::countr_zero(lanes) : 31 - std::countl_zero(lanes);
    lanes &= ~(1u << lane);
    current_ = warp * kWarp + lane;
    threadIdx = thread(current_).index;
    return true;
  }
  return false;
}

void Block::resume_current() {
  int& fiber = thread(current_).fiber;
  if (fiber == kNoFiber) {
    if (idle_.empty()) idle_.push_back(fibers_.create());
    fiber = idle_.back();
    idle_.pop_back();
  }
  fibers_.switch_to(fiber);
}

// Gives way to other threads, of this warp first, until the current one can run and has its turn.
void Block::wait(int warp) {
  const int self = current_;
  const bool has_next = choose_next(warp);
  if (has_next && current_ == self) return;
  if (has_next)
    resume_current();
  else
    fibers_.switch_to(0);
  if (is_cancelling_) throw Cancelled{};
}

void Block::cancel_all() {
  is_cancelling_ = true;
  for (int i = 0; i < static_cast<int>(threads_.size()); ++i) {
    if (thread(i).fiber == kNoFiber || thread(i).state == State::finished) continue;
    current_ = i;
    fibers_.switch_to(thread(i).fiber);
  }
  is_cancelling_ = false;
}

void Block::set_ready(int first, unsigned lanes) {
  for (unsigned rest = lanes; rest; rest &= rest - 1)
    thread(first + std::countr_zero(rest)).state = State::ready;
  ready_[static_cast<size_t>(first / kWarp)] |= lanes;
}

// After each operation threads go on in the same order, whichever came last: so a race has another
// outcome in the opposite order.
void Block::barrier(Where where) {
  if (n_at_barrier_ == 0) barrier_where_ = where;
  if (!(where == barrier_where_))
    fail_here("expected every thread of the block at one barrier, got ", n_at_barrier_,
              " at __syncthreads (", barrier_where_, ") and this one at __syncthreads (", where,
              ")");
  thread(current_).state = State::at_barrier;
  thread(current_).where = where;
  const int n_threads = static_cast<int>(threads_.size());
  if (++n_at_barrier_ < n_threads) return wait(current_ / kWarp);
  n_at_barrier_ = 0;
  for (int first = 0; first < n_threads; first += kWarp)
    set_ready(first, lanes_of(n_threads - first));
  wait(first_warp());
}

void Block::warp(const WarpOperation& operation, void* lane) {
  const int first = current_ / kWarp * kWarp;
  const unsigned mask = operation.mask, own = 1u << (current_ - first);
  if (!(mask & own))
    fail_here(operation.name, " (", operation.where,
              "): expected a mask that names the caller, lane ", current_ - first, ", got ",
              hex(mask));
  Thread& self = thread(current_);
  self.state = State::in_warp;
  self.where = operation.where;
  self.operation = &operation;
  self.lane = lane;
  unsigned& arrived = arrived_[static_cast<size_t>(first / kWarp)];
  arrived |= own;
  if ((arrived & mask) != mask) return wait(first / kWarp);
  void* lanes[kWarp] = {};
  for (unsigned rest = mask; rest; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const Thread& other = thread(first + i);
    if (other.operation->complete != operation.complete || other.operation->mask != mask)
      fail_here("expected the lanes of ", hex(mask), " at one warp operation, got this one at ",
                describe(self), " and thread ", first + i, " at ", describe(other));
    lanes[i] = other.lane;
  }
  operation.complete(lanes);
  arrived &= ~mask;
  set_ready(first, mask);
  wait(first / kWarp);
}

void Block::fail_shuffle(int lane, int source) const {
  const Thread& self = thread(current_);
  fail_here(self.operation->name, " (", self.where, "): expected sources among the lanes ",
            hex(self.operation->mask), ", got lane ", lane, " reading lane ", source);
}

unsigned char* Block::shared_object(const void* key, size_t size_bytes, Where where) {
  unsigned char* object = shared_.object(key, size_bytes);
  if (!object)
    fail_here("shared (", where, "): expected at most ", SharedMemory::kMaxStaticBytes,
              " bytes of static shared memory, and ", most_shared_bytes(),
              " with the dynamic part, got ", size_bytes, " bytes more than fit");
  return object;
}

unsigned char* Block::dynamic_shared(Where where) {
  if (launch_->dynamic_shared_bytes == 0)
    fail_here("dynamic_shared (", where, "): expected a launch with shared_bytes > 0");
  return shared_.dynamic();
}

void Block::copy_async(const Copy& copy) {
  const auto is_aligned = [&](const void* x) {
    return reinterpret_cast<uintptr_t>(x) % copy.size_bytes == 0;
  };
  if (!is_aligned(copy.to) || !is_aligned(copy.from))
    fail_here("cp.async: expected both sides aligned to ", copy.size_bytes, " bytes");
  fill(copy.to, copy.size_bytes, poison_);
  copies_of_current().begun.push_back(copy);
}

void Block::end_copy_group() {
  Copies& copies = copies_of_current();
  copies.group_ends.push_back(copies.begun.size());
}

void Block::wait_for_copies() {
  end_copy_group();
  wait_for_copy_groups(0);
}

void Block::wait_for_copy_groups(size_t n_later) {
  Copies& copies = copies_of_current();
  auto& ends = copies.group_ends;
  if (ends.size() <= n_later) return;
  const auto later = ends.end() - static_cast<ptrdiff_t>(n_later);
  const size_t n_copies = *(later - 1);
  for (size_t i = 0; i < n_copies; ++i) {
    const Copy& copy = copies.begun[i];
    if (copy.from)
      std::memcpy(copy.to, copy.from, copy.size_bytes);
    else
      std::memset(copy.to, 0, copy.size_bytes);
  }
  copies.begun.erase(copies.begun.begin(), copies.begun.begin() + static_cast<ptrdiff_t>(n_copies));
  ends.erase(ends.begin(), later);
  for (size_t& end : ends) end -= n_copies;
}

void Block::init_copy_barrier(const void* barrier, int n_announce) {
  if (reinterpret_cast<uintptr_t>(barrier) % 8 != 0)
    fail_here("mbarrier: expected a barrier aligned to 8 bytes");
  copy_barriers_.init(barrier, n_announce);
}

void Block::expect_bulk_copies(const void* barrier, size_t n_bytes) {
  if (const char* wrong = copy_barriers_.expect(barrier, n_bytes))
    fail_here("mbarrier: ", wrong, ", got ", n_bytes, " bytes");
  wake_at_copies();
}

void Block::copy_in_bulk(const void* barrier, BulkCopy copy) {
  const auto to = reinterpret_cast<uintptr_t>(copy.to);
  const auto from = reinterpret_cast<uintptr_t>(copy.from);
  if (to % (copy.boxes ? 128 : 16) != 0 || from % 16 != 0 || copy.size_bytes % 16 != 0)
    fail_here("cp.async.bulk: expected a multiple of 16 bytes, aligned to that, and boxes to 128 ",
              "in shared memory");
  fill(copy.to, copy.size_bytes, poison_);
  const size_t n_bytes = copy.size_bytes;
  if (const char* wrong = copy_barriers_.add(barrier, std::move(copy)))
    fail_here("cp.async.bulk: ", wrong, ", got ", n_bytes, " bytes more");
  wake_at_copies();
}

void Block::wait_for_bulk_copies(const void* barrier, unsigned parity, Where where) {
  while (!copy_barriers_.has_ended(barrier, parity)) {
    thread(current_).state = State::at_copies;
    thread(current_).where = where;
    wait(current_ / kWarp);
  }
}

// Threads that wait for copies look again: who finds that a phase has ended makes its copies.
void Block::wake_at_copies() {
  for (size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i].state == State::at_copies)
      set_ready(static_cast<int>(i) / kWarp * kWarp, 1u << i % kWarp);
}

std::string Block::describe(const Thread& thread) const {
  switch (thread.state) {
    case State::at_barrier:
      return concat("__syncthreads (", thread.where, ")");
    case State::at_copies:
      return concat("a wait for bulk copies (", thread.where, ")");
    case State::in_warp:
      return concat(thread.operation->name, " (", thread.where, ") for lanes ",
                    hex(thread.operation->mask));
    default:
      return "the end";
  }
}

// The threads that wait, and their places.
std::string Block::deadlock() const {
  std::map<std::string, std::vector<int>> at;
  for (int i = 0; i < static_cast<int>(threads_.size()); ++i) at[describe(thread(i))].push_back(i);
  std::string text =
      concat("of ", threads_.size(), " threads some wait for others that cannot come:");
  for (const auto& [place, threads] : at)
    text += concat(&place == &at.begin()->first ? " " : "; ", emulation::describe(threads), " at ",
                   place);
  return text;
}

template <class... Parts>
void Block::fail_here(const Parts&... parts) const {
  fail<BackendError>("cuda", where(), ", thread ", current_, ": ", parts...);
}

std::string Block::where() const {
  return concat(kernel_name(launch_->kernel), ", block (", blockIdx.x, ", ", blockIdx.y, ", ",
                blockIdx.z, ")");
}

Block& this_block() {
  thread_local Block block;
  return block;
}

}  // namespace farfield::emulation
