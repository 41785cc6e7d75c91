#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>

#include "tests/support/cuda/fibers.h"

namespace farfield::emulation {
BOOST_AUTO_TEST_SUITE(test_fibers)
namespace {

BOOST_AUTO_TEST_CASE(fibers_take_turns_and_keep_their_locals) {
  std::string log;
  Fibers* fibers = nullptr;
  Fibers all([&](int id) {
    for (int local = 10 * id; local < 10 * id + 3; ++local) {
      log += std::to_string(local) + ' ';
      fibers->switch_to(id == 2 ? 1 : 2);
    }
    fibers->switch_to(0);
  });
  fibers = &all;
  BOOST_TEST(all.create() == 1);
  BOOST_TEST(all.create() == 2);
  all.switch_to(1);
  BOOST_TEST(log == "10 20 11 21 12 22 ");
  BOOST_TEST(all.current() == 0);
  all.switch_to(2);  // still in its loop; 1 has come to its end
  all.switch_to(1);
  all.switch_to(2);
}

BOOST_AUTO_TEST_CASE(a_fiber_whose_body_returns_gives_the_turn_to_the_first) {
  int n_ended = 0;
  Fibers fibers([&](int) { ++n_ended; });
  for (int i = 0; i < 100; ++i) fibers.switch_to(fibers.create());
  BOOST_TEST(n_ended == 100);
}

BOOST_AUTO_TEST_CASE(an_exception_is_caught_on_the_stack_that_threw_it) {
  Fibers* fibers = nullptr;
  std::string caught;
  Fibers all([&](int id) {
    try {
      fibers->switch_to(0);
      throw std::runtime_error(std::to_string(id));
    } catch (const std::runtime_error& error) {
      caught += error.what();
    }
  });
  fibers = &all;
  for (int i = 0; i < 5; ++i) all.switch_to(all.create());
  for (int id = 5; id > 0; --id) all.switch_to(id);
  BOOST_TEST(caught == "54321");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::emulation
