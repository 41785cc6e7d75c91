#include "tests/support/cuda/kernel_attributes.h"

#include <map>
#include <mutex>
#include <utility>

#include "engine/base/error.h"
#include "engine/cuda/kernel_name.h"
#include "tests/support/cuda/devices.h"

namespace farfield::emulation {
namespace {

using KernelOnDevice = std::pair<int, const void*>;

struct Attributes {
  std::mutex mutex;
  std::map<KernelOnDevice, int> carveout;
  std::map<KernelOnDevice, size_t> dynamic_bytes;
  std::map<const void*, size_t> static_bytes;
  int64_t n_calls = 0;
};
Attributes& attributes() {
  static Attributes all;
  return all;
}

KernelOnDevice here(const void* kernel) {
  int index = 0;
  cudaGetDevice(&index);
  return {index, kernel};
}

}  // namespace

int preferred_carveout(const void* kernel) {
  Attributes& all = attributes();
  const std::lock_guard lock(all.mutex);
  const auto found = all.carveout.find(here(kernel));
  return found == all.carveout.end() ? -1 : found->second;
}

bool may_have_dynamic_bytes(const Launch& launch) {
  Attributes& all = attributes();
  const std::lock_guard lock(all.mutex);
  const auto said = all.static_bytes.find(launch.kernel);
  const size_t own_bytes = said == all.static_bytes.end() ? 0 : said->second;
  if (launch.dynamic_shared_bytes + own_bytes <= SharedMemory::kPlainBytes) return true;
  const auto asked = all.dynamic_bytes.find(here(launch.kernel));
  return asked != all.dynamic_bytes.end() && launch.dynamic_shared_bytes <= asked->second;
}

void set_static_shared_bytes(const void* kernel, size_t size_bytes) {
  Attributes& all = attributes();
  const std::lock_guard lock(all.mutex);
  all.static_bytes[kernel] = size_bytes;
}

void check_static_shared_bytes(const void* kernel, size_t size_bytes) {
  Attributes& all = attributes();
  const std::lock_guard lock(all.mutex);
  const auto said = all.static_bytes.find(kernel);
  if (said != all.static_bytes.end())
    require<BackendError>(size_bytes <= said->second, "cuda", kernel_name(kernel), ": expected ",
                          said->second, " bytes of static shared memory, as the test said, got ",
                          size_bytes);
}

int64_t n_attribute_calls() {
  Attributes& all = attributes();
  const std::lock_guard lock(all.mutex);
  return all.n_calls;
}

}  // namespace farfield::emulation

using namespace farfield::emulation;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* of, const void* kernel) {
  Attributes& all = attributes();
  const std::lock_guard lock(all.mutex);
  ++all.n_calls;
  const auto said = all.static_bytes.find(kernel);
  *of = {said == all.static_bytes.end() ? 0 : said->second};
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  Attributes& all = attributes();
  const std::lock_guard lock(all.mutex);
  ++all.n_calls;
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
    if (value < -1 || value > cudaSharedmemCarveoutMaxShared) return cudaErrorInvalidValue;
    all.carveout[here(kernel)] = value;
    return cudaSuccess;
  }
  if (value < 0 || static_cast<size_t>(value) > most_shared_bytes()) return cudaErrorInvalidValue;
  all.dynamic_bytes[here(kernel)] = static_cast<size_t>(value);
  return cudaSuccess;
}
