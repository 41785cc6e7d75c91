#pragma once
// A thread is never interrupted between two waits, so plain code is atomic.

#include <algorithm>
#include <type_traits>
#include <utility>

namespace farfield::emulation {
template <class T, class... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);
}

template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  static_assert(
      farfield::emulation::is_one_of<T, int, unsigned, unsigned long long, float, double>);
  return std::exchange(*address, *address + value);
}

template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  static_assert(farfield::emulation::is_one_of<T, int, unsigned, long long, unsigned long long>);
  return std::exchange(*address, std::max(*address, value));
}

template <class T>
T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  static_assert(farfield::emulation::is_one_of<T, int, unsigned, unsigned long long>);
  return std::exchange(*address, *address == compare ? value : *address);
}
