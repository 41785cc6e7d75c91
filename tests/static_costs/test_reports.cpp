#include <boost/test/unit_test.hpp>

#include "tests/static_costs/reports.h"

BOOST_AUTO_TEST_SUITE(test_reports)

using namespace farfield::static_costs;

namespace {

constexpr const char* kReport =
    R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1fPf' for 'sm_80'
ptxas info    : Function properties for _Z1fPf
    32 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 4224 bytes smem, 736 bytes cmem[0]
ptxas info    : Compile time = 23.157 ms
ptxas info    : Compiling entry function '_Z1fPf' for 'sm_90'
ptxas info    : Function properties for _Z1fPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
)";

constexpr const char* kElf = R"(
arch = sm_90
.nv.info._Z1fPf
	<0x1>
	Attribute:	EIATTR_CUDA_API_VERSION
	Format:	EIFMT_SVAL
	Value:	0x82 
	Attribute:	EIATTR_MAX_THREADS
	Format:	EIFMT_SVAL
	Value:	0x20 0x8 0x1 
	Attribute:	EIATTR_CRS_STACK_SIZE
	Value:	0x0 
.nv.info._Z1gPf
	Attribute:	EIATTR_CRS_STACK_SIZE
	Value:	0x0 
)";

}  // namespace

BOOST_AUTO_TEST_CASE(what_ptxas_says_is_read_for_each_architecture) {
  const auto kernels = read_ptxas(kReport);
  BOOST_TEST_REQUIRE(kernels.size() == 2u);
  const Resources& first = kernels.at({"_Z1fPf", 80});
  BOOST_TEST(first.registers == 255);
  BOOST_TEST(first.spill_bytes == 32);
  BOOST_TEST(first.shared_bytes == 4224);
  const Resources& second = kernels.at({"_Z1fPf", 90});
  BOOST_TEST(second.registers == 8);
  BOOST_TEST(second.spill_bytes == 0);
  BOOST_TEST(second.shared_bytes == 0);
  BOOST_TEST(read_ptxas("").empty());
}

BOOST_AUTO_TEST_CASE(threads_are_known_of_kernels_with_launch_bounds) {
  const auto bounds = read_launch_bounds(kElf);
  BOOST_TEST_REQUIRE(bounds.size() == 1u);
  BOOST_TEST(bounds.at({"_Z1fPf", 90}) == 256);
}

// Against the toolkit's occupancy calculator.
BOOST_AUTO_TEST_CASE(resident_blocks_are_bounded_by_each_resource) {
  BOOST_TEST(resident_blocks(80, 256, {.registers = 32}) == 8);   // warps
  BOOST_TEST(resident_blocks(80, 256, {.registers = 33}) == 6);   // registers
  BOOST_TEST(resident_blocks(80, 128, {.registers = 255}) == 2);  // registers
  BOOST_TEST(resident_blocks(80, 32, {.registers = 16}) == 32);   // blocks
  BOOST_TEST(resident_blocks(80, 128, {.registers = 32, .shared_bytes = 48 << 10}) == 3);
  BOOST_TEST(resident_blocks(90, 128, {.registers = 32, .shared_bytes = 48 << 10}) == 4);
  BOOST_TEST(resident_blocks(70, 128, {.registers = 32}) == 0);  // not known
}

BOOST_AUTO_TEST_CASE(names_are_short_and_keep_template_arguments) {
  BOOST_TEST(
      short_name("_ZN8farfield47_GLOBAL__N__6558d841_14_split_heads_cu_fa23465818split_heads_"
                 "kernelILi8ENS_8BFloat16EEEvNS0_6LayoutENS0_9AllAnglesEPKT0_NS0_8PointersIS3_"
                 "EE") == "split_heads_kernel<8, BFloat16>");
  BOOST_TEST(short_name("_Z1fPf") == "f");
  BOOST_TEST(short_name("main") == "main");
}

BOOST_AUTO_TEST_SUITE_END()
