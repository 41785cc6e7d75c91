// device_group.h where there is no NCCL.

#include "engine/base/error.h"
#include "engine/distributed/device_group.h"

namespace farfield {

std::unique_ptr<DeviceGroup> make_device_group(comm::Communicator& processes,
                                               const Device& device) {
  fail<DeviceError>("processes", "expected tensors on the CPU, got one on ", device, ": ",
                    processes.description(),
                    " send host memory alone, and this was built without "
                    "NCCL; install NCCL and configure again, or use one process or the device cpu");
}

}  // namespace farfield
