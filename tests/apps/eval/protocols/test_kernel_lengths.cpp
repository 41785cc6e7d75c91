#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/kernels.h"
#include "apps/eval/protocols/kernel_lengths.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/small_model.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_kernel_lengths)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

LengthResult measure(const std::string& posenc, int64_t n_head = 2) {
  const SmallModel small(heads_config(posenc, n_head));
  return kernel_lengths(small.subject()).lengths.at(0);
}

std::vector<double> values(const LengthResult& cell, const std::string& name) {
  std::vector<double> all;
  for (const Quantity& quantity : cell.quantities)
    if (quantity.name == name) all.push_back(quantity.value);
  return all;
}

std::vector<Kernel> kernels(const std::string& posenc, int64_t n = 100) {
  return kernels_of(SmallModel(posenc).model, n).heads;
}

}  // namespace

BOOST_AUTO_TEST_CASE(alibi_with_12_heads_has_the_published_lengths) {
  const LengthResult cell = measure("alibi(slopes=geometric)", 12);
  const std::vector<double> want{4, 6, 9, 13, 21, 33, 51, 81, 129, 204, 323, 513};
  BOOST_TEST(values(cell, "eff") == want, boost::test_tools::per_element());
  BOOST_TEST(values(cell, "nonmonotone") == std::vector<double>(12),
             boost::test_tools::per_element());
  BOOST_TEST(values(cell, "eff_relative").empty());
  BOOST_TEST(value_of(cell, "eff h12") == 513);

  // y(x), read off the steps that are kept of it
  const Series& count = cell.series.at(0);
  BOOST_TEST(count.is_log_x);
  BOOST_TEST(count.x.front() == 0);
  BOOST_TEST(count.x.back() == 20480);
  size_t at = 0;
  for (double x = 0; x <= 20480; ++x) {
    double y = 0;
    for (const double length : want) y += length <= x;
    while (at + 1 < count.x.size() && count.x[at + 1] <= x) ++at;
    BOOST_REQUIRE_EQUAL(count.y[at], y);
  }
  BOOST_TEST(count.x.size() < 30u);
}

BOOST_AUTO_TEST_CASE(a_head_that_never_reaches_the_threshold_is_infinite) {
  const LengthResult cell = measure("alibi(slopes=[0.5, 0.00001])");
  BOOST_TEST(values(cell, "eff") == (std::vector<double>{5, INFINITY}),
             boost::test_tools::per_element());
  BOOST_TEST(cell.series.at(0).y.back() == 1);
}

BOOST_AUTO_TEST_CASE(formulas_are_used_where_parameters_make_the_table) {
  for (const char* posenc : {"alibi", "alibi_learned", "kerple_power", "kerple_log", "kerple_log3",
                             "kerple_log(share=layer)", "kerple_log(r1=[1, 0.01])"}) {
    for (const Kernel& kernel : kernels(posenc, analysis::kLargestDistance + 1)) {
      BOOST_TEST(kernel.has_closed_form, posenc);
      BOOST_TEST((kernel.closed_form == analysis::effective_length(kernel.bias).length), posenc);
    }
  }
  for (const char* posenc : {"sandwich", "t5", "kerple_log + window(9)", "alibi + kerple_log",
                             "kerple_log(bias_scale=0.5)", "alibi_shift(delta=1)@0 + sandwich@1"})
    for (const Kernel& kernel : kernels(posenc))
      if (kernel.of.find("layer 0") != 0) BOOST_TEST(!kernel.has_closed_form, posenc);
}

BOOST_AUTO_TEST_CASE(sandwich_is_not_monotone_and_its_first_crossing_counts) {
  const LengthResult cell = measure("sandwich(bar_d=128)", 8);
  // (sum of cos(d 10000^(-2i / 128)) - 64) 8 / h, i = 0 .. 63
  for (int64_t h = 1; h <= 8; ++h) {
    int64_t first = 0;
    for (double k = 0; k >= -2; ++first) {
      double sum = 0;
      for (int i = 0; i < 64; ++i)
        sum += std::cos(static_cast<double>(first + 1) * std::pow(10000, -2.0 * i / 128)) - 1;
      k = sum * 8 / static_cast<double>(h) / 8;
    }
    BOOST_TEST(value_of(cell, concat("eff h", h)) == static_cast<double>(first));
    BOOST_TEST(value_of(cell, concat("nonmonotone h", h)) == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_table_that_is_not_zero_at_zero_has_a_relative_length_too) {
  const LengthResult cell = measure("t5");
  BOOST_TEST(values(cell, "eff").size() == 2u);
  BOOST_TEST(values(cell, "eff_relative").size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_window_ends_every_head) {
  BOOST_TEST(values(measure("window(16)"), "eff") == (std::vector<double>{16, 16}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(layers_that_differ_come_one_by_one) {
  BOOST_TEST(kernels("alibi").size() == 2u);
  BOOST_TEST(kernels("alibi")[1].of == "h2");
  const std::vector<Kernel> two = kernels("kerple_log(share=layer)");
  BOOST_TEST(two.size() == 4u);
  BOOST_TEST(two[0].of == "layer 0 h1");
  BOOST_TEST(two[3].of == "layer 1 h2");
  const LengthResult half = measure("alibi@1");
  BOOST_TEST(half.notes.at(0) == "layer 0: no bias by distance");
  BOOST_TEST(half.quantities.at(0).full_name() == "eff layer 1 h1");
}

BOOST_AUTO_TEST_CASE(kernels_are_in_float64) {
  for (const double d : {1.0, 77.0})  // slopes 2^-4, 2^-8 of two heads
    BOOST_TEST(kernels("alibi(slopes=[0.1, 0.7])")[0].at(static_cast<int64_t>(d)) == -0.1 * d);
}

BOOST_AUTO_TEST_CASE(an_encoding_without_a_bias_gives_a_remark_and_nothing_else) {
  for (const char* posenc : {"rope", "none", "sinusoidal", "learned_abs"}) {
    const LengthResult cell = measure(posenc);
    BOOST_TEST(cell.failure == "");
    BOOST_TEST(cell.quantities.empty());
    BOOST_TEST(cell.series.empty());
    BOOST_TEST(cell.notes.at(0).find(concat("no kernel: ", posenc)) == 0u, cell.notes.at(0));
  }
}

BOOST_AUTO_TEST_CASE(a_bias_that_depends_on_the_row_says_of_which) {
  BOOST_TEST(measure("fire").notes.at(0).find("that of token 20481 is shown") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
