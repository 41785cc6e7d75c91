#pragma once

#include <cstddef>

namespace farfield::detail {

/// Of its own objects and of what the launch gives together: above kPlainSharedBytes the latter
/// must be asked for, and from kManySharedBytes on a kernel prefers shared memory to the cache that
/// shares its space, so that more blocks fit.
inline constexpr size_t kPlainSharedBytes = size_t{48} << 10, kManySharedBytes = size_t{16} << 10;

/// Sees to it that the kernel may be launched with so many bytes of dynamic shared memory on the
/// device of this thread, and has room for several blocks. The runtime is asked once for each
/// kernel and device, and once more where a launch gives more than any before; other calls cost a
/// look into a table. Any thread.
/// Throws    BackendError, naming the kernel, with both sizes when that is more than the device has
void prepare_shared_memory(const void* kernel, size_t shared_bytes);

}  // namespace farfield::detail
