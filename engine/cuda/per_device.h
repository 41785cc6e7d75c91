#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace farfield {

/// One T for each device, made at its first use.
template <class T>
class PerDevice {
 public:
  /// make() returns a std::unique_ptr<T>; if it throws, nothing is stored.
  template <class Make>
  T& at(int index, const Make& make) {
    const std::lock_guard lock(mutex_);
    auto found = made_.find(index);
    if (found == made_.end()) found = made_.emplace(index, make()).first;
    return *found->second;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::unique_ptr<T>> made_;
};

}  // namespace farfield
