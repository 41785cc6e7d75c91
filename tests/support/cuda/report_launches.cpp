// Linked into tests that run with FARFIELD_TEST_DEVICE=cuda: one that launched no kernel at all has
// not tested the device.
#include <boost/test/unit_test.hpp>
#include <iostream>

#include "tests/support/cuda/everywhere.h"

namespace farfield::emulation {
namespace {

struct ReportLaunches {
  ~ReportLaunches() {
    std::cout << n_launches() << " kernel launches\n";
    BOOST_TEST((n_launches() > 0 || !is_cuda_everywhere()), "no kernel was launched");
  }
};
BOOST_TEST_GLOBAL_FIXTURE(ReportLaunches);

}  // namespace
}  // namespace farfield::emulation
