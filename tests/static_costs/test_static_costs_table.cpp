#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "tests/static_costs/costs.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_static_costs_table)

using namespace farfield;
using namespace farfield::static_costs;

namespace {

std::vector<KernelCosts> one_kernel() {
  return {{.file = "a.cu",
           .name = "f<8, float>",
           .sm = 80,
           .resources = {.registers = 40, .shared_bytes = 1024},
           .n_thread = 128,
           .has_dynamic_shared = true}};
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(blocks_are_those_with_what_launches_give) {
  std::vector<KernelCosts> kernels = one_kernel();
  BOOST_TEST(has(table(kernels), " 1024+ "));
  BOOST_TEST(has(table(kernels), " <=12 "));
  add_dynamic_shared(kernels, {{"g", {1, 2}}});
  BOOST_TEST(!kernels[0].dynamic.has_value());
  add_dynamic_shared(kernels, {{"f<8, float>", {40960, 81920}}});
  BOOST_TEST(has(table(kernels), " 1024+40960..81920 "));
  BOOST_TEST(has(table(kernels), " 2..3 "));  // of 164 KiB, with one more for each block
  add_dynamic_shared(kernels, {{"f<8, float>", {40960, 40960}}});
  BOOST_TEST(has(table(kernels), " 1024+40960 "));
  BOOST_TEST(has(table(kernels), " 3 "));
}

BOOST_AUTO_TEST_CASE(what_launches_give_is_read_as_it_was_written) {
  const std::string csv = "kernel,least,most\n\"f<8, float>\",16,32\ng,4,4\n";
  const DynamicShared bytes = dynamic_shared_of("d.csv", csv);
  BOOST_TEST_REQUIRE(bytes.size() == 2u);
  BOOST_TEST(bytes.at("f<8, float>").least == 16);
  BOOST_TEST(bytes.at("f<8, float>").most == 32);
  BOOST_TEST(to_csv(bytes) == csv);
  BOOST_CHECK_EXCEPTION(dynamic_shared_of("d.csv", ""), IoError, says("d.csv: expected in line 1"));
  BOOST_CHECK_EXCEPTION(dynamic_shared_of("d.csv", csv + "h,1\n"), IoError, says("line 4, got 2"));
  BOOST_CHECK_EXCEPTION(dynamic_shared_of("d.csv", csv + "h,1,x\n"), IoError, says("got 'x'"));
}

BOOST_AUTO_TEST_SUITE_END()
