#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

#include "engine/dispatch.h"
#include "engine/ops.h"
#include "engine/work_clock.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_work_clock)
namespace {

Tensor ones() { return Tensor::full({4, 4}, 1, DType::f32); }

int64_t calls_in(const std::vector<WorkClock::Work>& all, const std::string& file) {
  int64_t n = 0;
  for (const WorkClock::Work& work : all) {
    BOOST_TEST(work.seconds >= 0);
    if (std::string(work.place.file).ends_with(file)) n += work.n_call;
  }
  return n;
}

BOOST_AUTO_TEST_CASE(kernels_are_counted_by_the_place_that_asks_for_them) {
  const Tensor x = ones();
  WorkClock clock;
  (x + x) + x;
  matmul(x, x);
  const std::vector<WorkClock::Work> first = clock.take();
  BOOST_TEST(calls_in(first, "engine/ops/pointwise.cpp") == 2);
  BOOST_TEST(calls_in(first, "engine/ops/matmul.cpp") == 1);
  BOOST_TEST(std::count_if(first.begin(), first.end(), [](const WorkClock::Work& work) {
               return std::string(work.place.file).ends_with("engine/ops/pointwise.cpp");
             }) == 1);
  BOOST_TEST(clock.take().empty());
  x + x;
  BOOST_TEST(calls_in(clock.take(), "engine/ops/pointwise.cpp") == 1);
}

BOOST_AUTO_TEST_CASE(work_inside_other_work_counts_once) {
  WorkClock clock;
  const WorkPlace outer{"outer.cpp", 1}, inner{"inner.cpp", 1};
  dispatch(
      Device{},
      [&](auto) {
        dispatch(
            Device{}, [](auto) {}, inner);
      },
      outer);
  const std::vector<WorkClock::Work> all = clock.take();
  BOOST_TEST(calls_in(all, "outer.cpp") == 1);
  BOOST_TEST(calls_in(all, "inner.cpp") == 0);
  BOOST_CHECK_THROW(
      dispatch(
          Device{}, [](auto) { fail<Error>("kernel", "expected one that works"); }, outer),
      Error);
  dispatch(
      Device{}, [](auto) {}, inner);  // the work before has ended
  BOOST_TEST(calls_in(clock.take(), "inner.cpp") == 1);
}

BOOST_AUTO_TEST_CASE(each_thread_has_a_clock_of_its_own) {
  const Tensor x = ones();
  WorkClock clock;
  std::thread([&] {
    x + x;
    WorkClock other;
    x + x;
    BOOST_TEST(calls_in(other.take(), "engine/ops/pointwise.cpp") == 1);
  }).join();
  BOOST_TEST(clock.take().empty());
  BOOST_CHECK_EXCEPTION(WorkClock(), Error, says("expected one for each thread"));
  x + x;  // the clock of this thread still goes
  BOOST_TEST(calls_in(clock.take(), "engine/ops/pointwise.cpp") == 1);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
