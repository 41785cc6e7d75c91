#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/check.h"

namespace farfield {

/// Elements in device memory, for tests that call kernels directly.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    void* begin = nullptr;
    cuda_check(cudaMalloc(&begin, size_bytes()), size_bytes(), " bytes");
    begin_ = static_cast<T*>(begin);
  }
  DeviceArray(size_t size, T value) : DeviceArray(std::vector<T>(size, value)) {}
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    copy(begin_, values.data(), cudaMemcpyHostToDevice);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(begin_); }

  T* data() const { return begin_; }
  size_t size() const { return size_; }
  size_t size_bytes() const { return size_ * sizeof(T); }
  /// Waits for the default stream.
  std::vector<T> values() const {
    std::vector<T> result(size_);
    copy(result.data(), begin_, cudaMemcpyDeviceToHost);
    return result;
  }

 private:
  void copy(T* to, const T* from, cudaMemcpyKind kind) const {
    cuda_check(cudaMemcpyAsync(to, from, size_bytes(), kind, nullptr), "copy");
    cuda_check(cudaStreamSynchronize(nullptr), "copy");
  }

  T* begin_ = nullptr;
  size_t size_;
};

}  // namespace farfield
