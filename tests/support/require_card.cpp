// Linked into the tests that need a card: without one they are skipped, aloud.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <iostream>

#include "engine/device_info.h"

namespace farfield {
namespace {

struct RequireCard {
  RequireCard() {
    try {
      std::cout << "on " << device_info({Device::Kind::cuda, 0}).name << '\n';
    } catch (const DeviceError& error) {
      std::cout << "skipped: " << error.what() << std::endl;
      std::_Exit(77);
    }
  }
};
BOOST_TEST_GLOBAL_FIXTURE(RequireCard);

}  // namespace
}  // namespace farfield
