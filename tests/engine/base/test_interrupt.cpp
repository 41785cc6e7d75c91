#include <atomic>
#include <boost/test/unit_test.hpp>

#include "engine/base/interrupt.h"
#include "engine/base/parallel.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_interrupt)  // ctest: threads arm64
namespace {

std::atomic<int> questions_left{0};
bool is_due() { return questions_left.fetch_sub(1) <= 0; }

BOOST_AUTO_TEST_CASE(work_ends_between_two_pieces_once_that_is_asked_for) {
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    std::atomic<int> done{0};
    questions_left = 5;
    {
      const Interruptible interruptible(is_due);
      BOOST_CHECK_EXCEPTION(parallel_for(1000, [&](int64_t) { ++done; }), Interrupted,
                            says("[interrupt] stopped on request"));
    }
    BOOST_TEST(done == 5);
    parallel_for(1000, [&](int64_t) { ++done; });  // the pool goes on, and nobody asks any more
    BOOST_TEST(done == 1005);
  }
}

BOOST_AUTO_TEST_CASE(a_single_piece_is_not_begun) {
  questions_left = 0;
  const Interruptible interruptible(is_due);
  BOOST_CHECK_THROW(parallel_for(1, [](int64_t) { BOOST_ERROR("it ran"); }), Interrupted);
}

BOOST_AUTO_TEST_CASE(the_innermost_holds_and_may_say_that_nobody_asks) {
  BOOST_CHECK(interrupt_question() == nullptr);
  questions_left = 0;
  {
    const Interruptible outer(is_due);
    {
      const Interruptible inner(nullptr);
      int done = 0;
      set_thread_count(1);
      parallel_for(10, [&](int64_t) { ++done; });
      BOOST_TEST(done == 10);
    }
    BOOST_CHECK(interrupt_question() == &is_due);
  }
  BOOST_CHECK(interrupt_question() == nullptr);
  BOOST_CHECK_NO_THROW(throw_if(nullptr));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
