#include "engine/device_info.h"

#include "engine/dispatch.h"

namespace farfield {

void synchronize(const Device& device) {
  dispatch(device, [](auto tag) { synchronize(tag); });
}

DeviceInfo device_info(const Device& device) {
  return dispatch(device, [](auto tag) { return device_info(tag); });
}

}  // namespace farfield
