#pragma once

#include <cstdlib>
#include <string_view>

namespace farfield::test {

/// Whether this test runs a second time, with all tensors given to CUDA kernels.
inline bool is_on_cuda() {
  const char* device = std::getenv("FARFIELD_TEST_DEVICE");
  return device != nullptr && std::string_view(device) == "cuda";
}

}  // namespace farfield::test
