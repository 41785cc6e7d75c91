#pragma once

#include <cstddef>

namespace farfield::detail {

/// Bytes of static and dynamic shared memory together. Above kPlainSharedBytes a kernel must ask
/// for its dynamic memory; from kManySharedBytes on it prefers shared memory to the L1 cache in the
/// same space, so that more blocks fit.
inline constexpr size_t kPlainSharedBytes = size_t{48} << 10, kManySharedBytes = size_t{16} << 10;

/// Makes sure that the kernel may be launched with so many bytes of dynamic shared memory on the
/// device of this thread, and has room for several blocks. Calls the runtime once for each kernel
/// and device, and again if a launch needs more than any before; other calls cost a table lookup.
/// Any thread.
/// Throws    BackendError, naming the kernel, with both sizes when that is more than the device has
void prepare_shared_memory(const void* kernel, size_t shared_bytes);

}  // namespace farfield::detail
