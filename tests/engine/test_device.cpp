#include <boost/test/unit_test.hpp>
#include <type_traits>

#include "engine/dispatch.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_device)
namespace {

BOOST_AUTO_TEST_CASE(devices_print_and_parse) {
  BOOST_TEST(concat(Device{}) == "cpu");
  BOOST_TEST(concat(Device{Device::Kind::cuda, 3}) == "cuda:3");
  BOOST_TEST((parse_device("cpu") == Device{}));
}

BOOST_AUTO_TEST_CASE(other_texts_are_refused) {
  for (const char* text : {"", "gpu", "cpu:0", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"})
    BOOST_CHECK_EXCEPTION(
        parse_device(text), ConfigError,
        says(std::string("[device] expected cpu, cuda or cuda:N, got '") + text + "'"));
  BOOST_CHECK_EXCEPTION(parse_device("gpu"), ConfigError,
                        says_exactly("[device] expected cpu, cuda or cuda:N, got 'gpu'; did you "
                                     "mean 'cuda'?"));
}

BOOST_AUTO_TEST_CASE(dispatch_hands_over_the_tag_of_the_device) {
  BOOST_TEST(dispatch(Device{}, [](auto tag) { return std::is_same_v<decltype(tag), Cpu>; }));
}

#ifndef FARFIELD_HAS_CUDA
BOOST_AUTO_TEST_CASE(a_build_without_cuda_says_so) {
  for (const char* text : {"cuda", "cuda:1"})
    BOOST_CHECK_EXCEPTION(parse_device(text), ConfigError,
                          says_exactly(std::string("[device] '") + text +
                                       "' asked for, but this build has no CUDA; configure with "
                                       "FARFIELD_CUDA=ON"));
  BOOST_CHECK_EXCEPTION(dispatch(Device{Device::Kind::cuda, 0}, [](auto) {}), DeviceError,
                        says_exactly("[device] expected cpu, got cuda:0; this build has no CUDA, "
                                     "configure with FARFIELD_CUDA=ON"));
}
#endif

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
