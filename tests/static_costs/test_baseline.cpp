#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "tests/static_costs/baseline.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_baseline)

using namespace farfield;
using namespace farfield::static_costs;

namespace {

KernelCosts kernel(const char* file, const char* name) {
  return {
      .file = file,
      .name = name,
      .sm = 90,
      .resources = {.registers = 40, .spill_bytes = 0, .shared_bytes = 128},
      .code = CodeCosts{
          .all = 60, .n_innermost = 2, .innermost = 30, .in_loops = {10, 1, 0, 20, 2, 3, 0, 4, 5}}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_baseline_is_read_as_it_was_written) {
  const Baseline written = {"13.0.88", {kernel("norm.cu", "norm_kernel<8, float>")}};
  const std::string csv = to_csv(written);
  BOOST_TEST(csv ==
             "# nvcc 13.0.88\n"
             "file,kernel,sm,registers,spill,shared,all,loops,innermost,fp32,mufu,tensor,integer,"
             "convert,global,"
             "shared,control,other,whole,each,tile\n"
             "norm.cu,\"norm_kernel<8, float>\",90,40,0,128,60,2,30,10,1,0,20,2,3,0,4,5,,,\n");
  const Baseline read = baseline_of("baseline.csv", csv);
  BOOST_TEST(read.nvcc == "13.0.88");
  BOOST_TEST(to_csv(read) == csv);
}

BOOST_AUTO_TEST_CASE(damage_is_refused_with_its_line) {
  const std::string good = to_csv({"13", {kernel("a.cu", "f")}});
  BOOST_CHECK_EXCEPTION(baseline_of("b.csv", "file,kernel\n"), IoError,
                        says("b.csv: expected '# nvcc RELEASE'"));
  BOOST_CHECK_EXCEPTION(baseline_of("b.csv", "# nvcc 13\nfile\n"), IoError, says("line 2"));
  BOOST_CHECK_EXCEPTION(baseline_of("b.csv", good + "a.cu,f\n"), IoError, says("line 4, got 2"));
  std::string bad = good;
  bad.replace(bad.find(",40,"), 4, ",4x,");
  BOOST_CHECK_EXCEPTION(baseline_of("b.csv", bad), IoError, says("line 3, got '4x'"));
}

BOOST_AUTO_TEST_CASE(what_grew_is_named_with_old_and_new_numbers) {
  const KernelCosts before = kernel("norm.cu", "f<8>");
  KernelCosts now = before;
  BOOST_TEST(compare({before}, {now}).grown.empty());
  BOOST_TEST(compare({before}, {now}).shrunk.empty());
  now.resources = {.registers = 41, .spill_bytes = 8, .shared_bytes = 64};
  now.code->all = 62;
  now.code->innermost = 31;
  now.code->in_loops[0] += 3;
  now.code->in_loops[3] -= 1;
  const Changes changes = compare({before}, {now});
  const std::vector<std::string> grown = {
      "norm.cu: f<8> for sm_90: registers 40 to 41",
      "norm.cu: f<8> for sm_90: bytes of spills 0 to 8",
      "norm.cu: f<8> for sm_90: instructions 60 to 62",
      "norm.cu: f<8> for sm_90: instructions of innermost loops 30 to 31",
      "norm.cu: f<8> for sm_90: instructions in loops 45 to 47 (fp32 10 to 13, integer 20 to 19)"};
  BOOST_TEST(changes.grown == grown, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(changes.shrunk.size() == 1u);
  BOOST_TEST(changes.shrunk[0] == "norm.cu: f<8> for sm_90: bytes of shared memory 128 to 64");
}

BOOST_AUTO_TEST_CASE(instructions_are_compared_only_where_they_are_known) {
  const KernelCosts before = kernel("norm.cu", "f");
  KernelCosts now = before;
  now.code.reset();
  BOOST_TEST(compare({before}, {now}).grown.empty());
  BOOST_TEST(compare({before}, {now}).shrunk.empty());
}

BOOST_AUTO_TEST_CASE(kernels_on_one_side_are_counted_and_overloads_told_apart) {
  const KernelCosts f = kernel("a.cu", "f"), g = kernel("a.cu", "g");
  const Changes changes = compare({f, f}, {f, g, g});
  BOOST_TEST(changes.n_new == 2);
  BOOST_TEST(changes.n_gone == 1);
  BOOST_TEST(changes.grown.empty());
}

BOOST_AUTO_TEST_CASE(attention_softmax_and_cross_entropy_may_not_spill) {
  for (const char* file : {"attention_forward.cu", "softmax.cu", "cross_entropy.cu"}) {
    KernelCosts one = kernel(file, "f");
    BOOST_TEST(forbidden_spills({one}).empty());
    one.resources.spill_bytes = 4;
    BOOST_TEST_REQUIRE(forbidden_spills({one}).size() == 1u);
    BOOST_TEST(forbidden_spills({one})[0] ==
               std::string(file) + ": f for sm_90: 4 bytes of spills");
  }
  for (const char* file : {"norm.cu", "attention_landmark.cu"}) {
    KernelCosts other = kernel(file, "f");
    other.resources.spill_bytes = 4;
    BOOST_TEST(forbidden_spills({other}).empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
