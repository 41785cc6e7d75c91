#pragma once
// Copies from device to shared memory that one thread begins, however large, and that the tensor
// memory accelerator of compute capability 9.0 makes. A reader of the copied bytes waits at a
// barrier in shared memory, which counts bytes.

#include <cstdint>

#include "engine/cuda/async_proxy.cuh"
#include "engine/cuda/launch.h"
#include "engine/cuda/tensor_map.h"

namespace farfield {

/// Counts the bytes of TMA copies ("bulk copies"), phase after phase: a phase ends when all
/// announcing threads have announced their bytes, and all these bytes have arrived. In shared
/// memory.
///
/// Source    PTX ISA, mbarrier
class alignas(8) CopyBarrier {
 public:
  /// Before its first use, by one thread, then show_to_async_proxy() by it, then a barrier of the
  /// block.
  __device__ void init([[maybe_unused]] int n_announce) {
#ifdef __CUDACC__
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(n_announce)
                 : "memory");
#else
    emulation::init_copy_barrier(this, n_announce);
#endif
  }
  /// Announces the bytes of copies of a phase, perhaps none, before they begin; by n_announce
  /// threads, each once.
  __device__ void expect([[maybe_unused]] int n_bytes) {
#ifdef __CUDACC__
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(n_bytes)
                 : "memory");
#else
    emulation::expect_copies(this, n_bytes);
#endif
  }
  /// Waits until a phase has ended: the first has parity 0, the next 1, the one after 0. What it
  /// brought is seen by this thread and by products of its warpgroup. The phase before it must have
  /// ended.
  __device__ void wait([[maybe_unused]] uint32_t parity) {
#ifdef __CUDACC__
    asm volatile(
        "{\n.reg .pred ended;\n"
        "again:\nmbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
        "@!ended bra again;\n}" ::"r"(address()),
        "r"(parity)
        : "memory");
#else
    emulation::wait_for_bulk_copies(this, parity);
#endif
  }

#ifdef __CUDACC__
  __device__ uint32_t address() const {
    return static_cast<uint32_t>(__cvta_generic_to_shared(this));
  }
#endif

 private:
  [[maybe_unused]] uint64_t state_;
};

/// Begins a TMA copy of a box of a tensor (tensor_map.h), from these coordinates on. All bytes of
/// the box count in the bytes that the barrier expects. By one thread, after a barrier of the block
/// if others have read or written at `to`. `to` is aligned as the map says.
///
/// Source    PTX ISA, cp.async.bulk.tensor
__device__ inline void copy_box(void* to, const TensorMap& map, int x, CopyBarrier& barrier) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2}], [%3];" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
      "l"(&map), "r"(x), "r"(barrier.address())
      : "memory");
#else
  emulation::copy_box(to, map, {x}, &barrier);
#endif
}
__device__ inline void copy_box(void* to, const TensorMap& map, int x, int y, int z, int w,
                                CopyBarrier& barrier) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(
          static_cast<uint32_t>(__cvta_generic_to_shared(to))),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier.address())
      : "memory");
#else
  emulation::copy_box(to, map, {x, y, z, w}, &barrier);
#endif
}

/// The same for contiguous bytes: a multiple of 16 bytes, both sides aligned to 16.
///
/// Source    PTX ISA, cp.async.bulk
__device__ inline void copy_bytes(void* to, const void* from, int n_bytes, CopyBarrier& barrier) {
#ifdef __CUDACC__
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(static_cast<uint32_t>(__cvta_generic_to_shared(to))),
      "l"(from), "r"(n_bytes), "r"(barrier.address())
      : "memory");
#else
  emulation::copy_bytes(to, from, n_bytes, &barrier);
#endif
}

}  // namespace farfield
