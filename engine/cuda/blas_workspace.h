#pragma once

#include <optional>

#include "engine/cuda/blas.h"
#include "engine/storage.h"

namespace farfield {

/// Device memory that algorithms use while they run, as much as any has needed so far. Its users
/// follow each other in one stream.
class BlasWorkspace {
 public:
  /// Null for 0 bytes. BackendError, naming the product, when the device has no room.
  ///
  /// A smaller, older workspace may be freed while the device still uses it: its next user comes
  /// later in the same stream.
  void* at_least(size_t size_bytes, const BlasProduct& product, Cuda device) {
    if (size_bytes == 0) return nullptr;
    const auto size = static_cast<int64_t>(size_bytes);
    if (memory_ && memory_->size_bytes() >= size) return memory_->data();
    memory_.reset();
    try {
      memory_.emplace(size, Device{Device::Kind::cuda, device.index});
    } catch (const BackendError& error) {
      throw BackendError(concat(error.what(), "; it was for work on a ", describe(product)));
    }
    return memory_->data();
  }

 private:
  std::optional<Storage> memory_;
};

}  // namespace farfield
