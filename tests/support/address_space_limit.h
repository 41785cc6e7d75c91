#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <fstream>
#include <stdexcept>

#include "tests/support/emulation.h"

namespace farfield::test {

/// Whether AddressSpaceLimit does not work here; says so.
inline bool skip_without_address_space_limit() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  BOOST_TEST_MESSAGE("skipped: the sanitizer needs its address space");
  return true;
#else
  return skip_if_emulated("it does not pass a limit of the address space on");
#endif
}

/// While it lives, this process gets at most `bytes` of addresses more: stands in for a machine
/// with little memory.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(int64_t bytes) {
    if (::getrlimit(RLIMIT_AS, &before_) != 0) throw std::runtime_error("getrlimit failed");
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit little = before_;
    little.rlim_cur = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGE_SIZE) + bytes);
    if (::setrlimit(RLIMIT_AS, &little) != 0) throw std::runtime_error("setrlimit failed");
  }
  ~AddressSpaceLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace farfield::test
