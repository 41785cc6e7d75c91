#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/protocols/kernel_definiteness.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/small_model.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_kernel_definiteness)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {
LengthResult measure(const std::string& posenc, int64_t n_head, int64_t points = 64) {
  const SmallModel small(heads_config(posenc, n_head));
  const KernelDefinitenessOptions own{points};
  check(own);
  return kernel_definiteness(small.subject(), own).lengths.at(0);
}
}  // namespace

BOOST_AUTO_TEST_CASE(the_kernels_of_the_paper_have_their_eigenvalues_and_shifts) {
  const LengthResult cell = measure("kerple_power(r1=[1, 1, 1, 1], r2=[0.5, 1, 1.5, 2])", 4);
  const double eigenvalue[] = {0.760, 0.500, 0.238}, shift[] = {4.7417, 31.5, 327.15},
               search[] = {8, 32, 512};
  for (size_t i = 0; i < 3; ++i) {
    BOOST_TEST(std::abs(cell.quantities.at(5 * i).value - eigenvalue[i]) < 5e-4);
    BOOST_TEST(cell.quantities.at(5 * i + 1).value == 1);
    BOOST_TEST(cell.quantities.at(5 * i + 1).word == "cpd");
    BOOST_TEST(cell.quantities.at(5 * i + 2).value == shift[i], boost::test_tools::tolerance(1e-4));
    BOOST_TEST(cell.quantities.at(5 * i + 3).value == search[i]);
  }
  BOOST_TEST(cell.quantities.at(16).full_name() == "verdict h4");
  BOOST_TEST(cell.quantities.at(16).value == 0);
  BOOST_TEST(cell.quantities.at(16).word == "boundary");
  BOOST_TEST(std::isnan(cell.quantities.at(17).value));
  BOOST_TEST(cell.quantities.at(17).word == "none");
}

BOOST_AUTO_TEST_CASE(the_shift_of_a_line_grows_with_the_points) {
  for (const int64_t n : {4, 100})
    BOOST_TEST(value_of(measure("alibi(slopes=[1, 2])", 2, n), "c_min h1") ==
                   static_cast<double>(n - 1) / 2,
               boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_mask_leaves_the_tokens_whose_distances_are_all_seen) {
  const LengthResult cell = measure("alibi + window(9)", 2), nine = measure("alibi", 2, 9);
  BOOST_TEST(cell.failure == "");
  for (const char* name : {"smallest_eigenvalue h1", "c_min h1", "search h1", "verdict h2", "n h2"})
    BOOST_TEST(value_of(cell, name) == value_of(nine, name), name);
  BOOST_TEST(value_of(cell, "n h1") == 9);
  BOOST_TEST_REQUIRE(cell.notes.size() == 1u);
  BOOST_TEST(cell.notes[0] == "a mask hides distance 9: tokens 0 to 8 make the matrix");
  BOOST_TEST(measure("alibi + window(64)", 2).notes.empty());
}

BOOST_AUTO_TEST_CASE(a_mask_that_shows_one_distance_alone_makes_no_matrix) {
  BOOST_CHECK_EXCEPTION(measure("alibi + window(1)", 2), ConfigError,
                        says("bad_argument: expected at least 2 points, got 1"));
}

BOOST_AUTO_TEST_CASE(a_kept_failure_at_a_mask_is_measured_again) {
  const SmallModel small(heads_config("alibi + window(9)", 2));
  Subject subject = small.subject();
  const TempFolder folder;
  subject.session.cells.emplace(folder.path(), run::Settings(), CellFiles::Use());
  ProtocolResult of;
  of.protocol = "definiteness";
  of.parameters = "points=64";
  LengthResult failed;
  set_failure(failed, "nonfinite_kernel", "");
  subject.session.cells->keep(0, of, failed);
  BOOST_TEST(folder.entries() == 1);
  const LengthResult cell = kernel_definiteness(subject, {}).lengths.at(0);
  BOOST_TEST(folder.entries() == 1);  // of the same key: it was replaced
  BOOST_TEST(cell.failure == "");
  BOOST_TEST(value_of(cell, "n h1") == 9);
  // kept cells carry this hash
  BOOST_TEST(kernel_definiteness(small.subject(), {}).hash() == "10081a755beac56d");
}

BOOST_AUTO_TEST_CASE(numbers_of_points_have_bounds) {
  for (const int64_t n : {1, 2049})
    BOOST_CHECK_EXCEPTION(measure("alibi", 2, n), ConfigError,
                          says("[eval:definiteness] bad_argument: expected definiteness-points "
                               "from 2 to 2048, got"));
}

BOOST_AUTO_TEST_SUITE_END()
