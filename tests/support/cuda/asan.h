#pragma once
// The address sanitizer where it is on, nothing where it is not.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FARFIELD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FARFIELD_ASAN 1
#endif
#endif
#ifndef FARFIELD_ASAN
#define FARFIELD_ASAN 0
#endif

#if FARFIELD_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace farfield::emulation {

inline constexpr bool kHasAsan = FARFIELD_ASAN;

/// Any access to these bytes stops the program with a report.
inline void forbid([[maybe_unused]] const void* begin, [[maybe_unused]] size_t size_bytes) {
#if FARFIELD_ASAN
  __asan_poison_memory_region(begin, size_bytes);
#endif
}
inline void allow([[maybe_unused]] const void* begin, [[maybe_unused]] size_t size_bytes) {
#if FARFIELD_ASAN
  __asan_unpoison_memory_region(begin, size_bytes);
#endif
}

/// The sanitizer's record of a stack.
struct StackNote {
  const void* bottom = nullptr;
  size_t size_bytes = 0;
  void* fake_stack = nullptr;  ///< its locals on the heap (detect_stack_use_after_return)
};
/// Right before and right after a change of stack. The bounds of the left stack are noted on
/// arrival: no other call reports the bounds of the first stack.
inline void leave_stack([[maybe_unused]] StackNote& from, [[maybe_unused]] const StackNote& to) {
#if FARFIELD_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size_bytes);
#endif
}
inline void arrive_on_stack([[maybe_unused]] StackNote& from,
                            [[maybe_unused]] const StackNote& to) {
#if FARFIELD_ASAN
  __sanitizer_finish_switch_fiber(to.fake_stack, &from.bottom, &from.size_bytes);
#endif
}

}  // namespace farfield::emulation
