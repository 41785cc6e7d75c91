#include "tests/support/cuda/grid.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "engine/cuda/kernel_name.h"
#include "tests/support/cuda/device_memory.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/everywhere.h"
#include "tests/support/cuda/kernel_attributes.h"

namespace farfield::emulation {
namespace {

constinit thread_local int n_race_checks = 0;
constinit thread_local SharedBytesGiven* shared_bytes_given = nullptr;

std::atomic<int64_t> launches = 0;

bool is_in_environment(const char* name, std::string_view value) {
  const char* text = std::getenv(name);
  return text && text == value;
}

bool are_all_checked() {
  static const bool answer = is_in_environment("FARFIELD_CUDA_RACES", "1");
  return answer;
}

void run_blocks(const Launch& launch, Order order, Poison poison) {
  const dim3 grid = launch.grid;
  const uint64_t n_blocks = uint64_t{grid.x} * grid.y * grid.z;
  for (uint64_t i = 0; i < n_blocks; ++i) {
    const uint64_t block = order == Order::forward ? i : n_blocks - 1 - i;
    const uint3 index = {static_cast<unsigned>(block % grid.x),
                         static_cast<unsigned>(block / grid.x % grid.y),
                         static_cast<unsigned>(block / grid.x / grid.y)};
    this_block().run(launch, index, order, poison);
  }
}

void run_both_orders(const Launch& launch) {
  const DeviceSnapshot before = snapshot_device_memory();
  run_blocks(launch, Order::forward, Poison::nan);
  const DeviceSnapshot forward = snapshot_device_memory();
  restore_device_memory(before);
  run_blocks(launch, Order::backward, Poison::large);
  for (const auto& piece : forward.pieces) {
    const auto differs = std::mismatch(piece.bytes.begin(), piece.bytes.end(), piece.begin).first;
    if (differs == piece.bytes.end()) continue;
    fail<BackendError>(
        "cuda", kernel_name(launch.kernel),
        ": expected the same results in any order of threads, got a difference at byte ",
        differs - piece.bytes.begin(), " of an array of ", piece.bytes.size(),
        " bytes; look for a missing barrier, atomics on floating point, or shared memory that is "
        "read before it is written");
  }
}

}  // namespace

bool is_valid(const Launch& launch) {
  const dim3 grid = launch.grid, block = launch.block;
  const uint64_t n_threads = uint64_t{block.x} * block.y * block.z;
  const bool is_block =
      n_threads > 0 && block.x <= 1024 && block.y <= 1024 && block.z <= 64 && n_threads <= 1024;
  const bool is_grid = grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= 0x7fffffffu &&
                       grid.y <= 65535 && grid.z <= 65535;
  return is_block && is_grid && launch.dynamic_shared_bytes <= most_shared_bytes();
}

void run_grid(const Launch& launch) {
  require<BackendError>(!this_block().is_running(), "cuda",
                        "expected launches by the host, got one inside of a kernel");
  ++launches;
  if (shared_bytes_given) {
    const size_t bytes = launch.dynamic_shared_bytes;
    auto& [least, most] =
        shared_bytes_given->of_kernel.try_emplace(launch.kernel, bytes, bytes).first->second;
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  if (n_race_checks > 0 || are_all_checked())
    run_both_orders(launch);
  else
    run_blocks(launch, Order::forward, Poison::nan);
  check_static_shared_bytes(launch.kernel, this_block().static_shared_bytes());
}

bool is_cuda_everywhere() {
  static const bool answer = is_in_environment("FARFIELD_TEST_DEVICE", "cuda");
  return answer;
}

int64_t n_launches() { return launches; }

RaceCheck::RaceCheck() { ++n_race_checks; }
RaceCheck::~RaceCheck() { --n_race_checks; }

SharedBytesGiven::SharedBytesGiven() { shared_bytes_given = this; }
SharedBytesGiven::~SharedBytesGiven() { shared_bytes_given = nullptr; }

}  // namespace farfield::emulation
