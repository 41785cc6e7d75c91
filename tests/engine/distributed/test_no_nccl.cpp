#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "engine/distributed/device_group.h"
#include "tests/support/messages.h"
#include "tests/support/processes.h"

BOOST_AUTO_TEST_SUITE(test_no_nccl)

using namespace farfield;

// The engine on the CPU is built without: whatever the transport, it has host memory alone.
BOOST_AUTO_TEST_CASE(device_memory_has_no_way_to_other_processes) {
  for (const auto& process : test::in_processes(2, [](comm::Communicator& processes) {
         return message_of<DeviceError>([&] {
           make_device_group(processes, {Device::Kind::cuda, 1});
         });
       }))
    BOOST_TEST(
        process.said ==
        "[processes] expected tensors on the CPU, got one on cuda:1: 2 processes by TCP send "
        "host memory alone, and this was built without NCCL; install NCCL and configure "
        "again, or use one process or the device cpu");
}

BOOST_AUTO_TEST_SUITE_END()
