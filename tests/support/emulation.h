#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace farfield::test {

/// Whether QEMU runs this test (third_party/aarch64.cmake), which does some of Linux's work itself
/// and leaves out some: `why` says what the caller cannot test then.
inline bool skip_if_emulated(const char* why) {
  if (std::getenv("FARFIELD_TEST_EMULATED") == nullptr) return false;
  BOOST_TEST_MESSAGE("skipped under QEMU: " << why);
  return true;
}

}  // namespace farfield::test
