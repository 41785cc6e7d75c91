#include "engine/device_info.h"

#include "engine/allocator.h"
#include "engine/dispatch.h"

namespace farfield {

void synchronize(const Device& device) {
  dispatch(device, [](auto tag) { synchronize(tag); });
}

DeviceInfo device_info(const Device& device) {
  return dispatch(device, [](auto tag) { return device_info(tag); });
}

int64_t device_free_bytes(const Device& device) {
  return dispatch(device, [](auto tag) { return allocator_of(tag).available(); });
}

}  // namespace farfield
