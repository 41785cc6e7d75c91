#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <string>

#include "engine/kernels/functors.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_functors)
namespace {

template <class F, class... Functors>
void for_each(FunctorList<Functors...>, const F& f) {
  (f(Functors{}), ...);
}

BOOST_AUTO_TEST_CASE(each_functor_is_found_at_its_own_place) {
  std::set<int> places;
  for_each(UnaryFunctors{}, [&](auto f) {
    std::string found;
    visit_functor(UnaryFunctors{}, unary_op<decltype(f)>, [&](auto g) { found = g.kName; });
    BOOST_TEST(found == f.kName);
    places.insert(static_cast<int>(unary_op<decltype(f)>));
  });
  BOOST_TEST(places.size() == 16u);
  places.clear();
  for_each(BinaryFunctors{}, [&](auto f) {
    std::string found;
    visit_functor(BinaryFunctors{}, binary_op<decltype(f)>, [&](auto g) { found = g.kName; });
    BOOST_TEST(found == f.kName);
    places.insert(static_cast<int>(binary_op<decltype(f)>));
  });
  BOOST_TEST(places.size() == 8u);
}

BOOST_AUTO_TEST_CASE(derivatives_read_only_what_they_say_they_keep) {
  const double nan = std::nan("");
  for_each(UnaryFunctors{}, [&](auto f) {
    const double x = 0.7, y = f(x), want = f.grad(x, y);
    const bool reads_x = f.kKeeps == Keeps::input, reads_y = f.kKeeps == Keeps::output;
    BOOST_TEST(f.grad(reads_x ? x : nan, reads_y ? y : nan) == want, f.kName);
  });
}

BOOST_AUTO_TEST_CASE(derivatives_agree_with_differences) {
  constexpr double kStep = 1e-6;
  for_each(UnaryFunctors{}, [&](auto f) {
    for (const double x : {0.3, 1.1, 2.7}) {
      const double want = (f(x + kStep) - f(x - kStep)) / (2 * kStep);
      BOOST_TEST(std::abs(f.grad(x, f(x)) - want) < 1e-8, f.kName << " at " << x);
    }
  });
  for_each(BinaryFunctors{}, [&](auto f) {
    for (const double a : {0.3, 1.1}) {
      const double b = 0.7;
      const double want_a = (f(a + kStep, b) - f(a - kStep, b)) / (2 * kStep);
      const double want_b = (f(a, b + kStep) - f(a, b - kStep)) / (2 * kStep);
      BOOST_TEST(std::abs(f.grad_a(a, b) - want_a) < 1e-8, f.kName << " at " << a);
      BOOST_TEST(std::abs(f.grad_b(a, b) - want_b) < 1e-8, f.kName << " at " << a);
    }
  });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
