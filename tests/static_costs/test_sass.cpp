#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "tests/static_costs/costs.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_sass)

using namespace farfield;
using namespace farfield::static_costs;

namespace {

// As cuobjdump prints it: an outer loop from 0020 to 00b0 around an inner one from 0040 to 0080,
// whose rare path lies behind the end of the kernel and leads back; what fills the end.
constexpr const char* kListing = R"sass(
Fatbin elf code:
================
arch = sm_80

	code for sm_80
	.target	sm_80

		Function : _Z4nestPf
	.headerflags	@"EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)"
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;   /* 0x00000a00ff017624 */
                                                                             /* 0x000fe400078e00ff */
        /*0010*/                   S2R R2, SR_TID.X ;                        /* 0x0000000000027919 */
        /*0020*/                   LDG.E R4, [R2.64] ;                       /* 0x0000000402047981 */
        /*0030*/                   BSSY B0, 0xa0 ;                           /* 0x0000006000007945 */
        /*0040*/                   FFMA R5, R4, R4, R5 ;                     /* 0x0000000404057223 */
        /*0050*/              @!P1 BRA P2, 0xf0 ;                            /* 0x0000009000000947 */
        /*0060*/                   MUFU.EX2 R6, R5 ;                         /* 0x0000000500067308 */
        /*0070*/                   IADD3 R7, R7, 0x1, RZ ;                   /* 0x0000000107077810 */
        /*0080*/               @P0 BRA 0x40 ;                                /* 0xffffffb000000947 */
        /*0090*/                   BSYNC B0 ;                                /* 0x0000000000007941 */
        /*00a0*/                   STS [R7], R6 ;                            /* 0x0000000607007388 */
        /*00b0*/              @!P3 BRA 0x20 ;                                /* 0xffffff600000b947 */
        /*00c0*/                   STG.E [R2.64], R6 ;                       /* 0x0000000602007986 */
        /*00d0*/                   CALL.REL.NOINC 0x110 ;                    /* 0x0000003000007944 */
        /*00e0*/                   EXIT ;                                    /* 0x000000000000794d */
        /*00f0*/                   F2FP.BF16.PACK_AB R5, RZ, R5 ;            /* 0x00000005ff05723e */
        /*0100*/                   BRA 0x60 ;                                /* 0xffffff5000007947 */
        /*0110*/                   RET.REL.NODEC R2 0x0 ;                    /* 0xfffffef002007950 */
        /*0120*/                   BRA 0x120;                                /* 0xfffffff000007947 */
        /*0130*/                   NOP;                                      /* 0x0000000000007918 */
		..........

		Function : _Z4flatPf
        /*0000*/                   HMMA.16816.F32.BF16 R4, R8, R12, R4 ;     /* 0x0000000c0804723c */
        /*0010*/                   EXIT ;                                    /* 0x000000000000794d */
)sass";

int64_t n_of(const CodeCosts& costs, Kind kind) {
  return costs.in_loops[static_cast<size_t>(kind)];
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_and_instructions_of_a_listing_are_read) {
  const auto kernels = read_sass(kListing);
  BOOST_TEST_REQUIRE(kernels.size() == 2u);
  BOOST_TEST(kernels[0].function == "_Z4nestPf");
  BOOST_TEST(kernels[0].sm == 80);
  BOOST_TEST_REQUIRE(kernels[0].instructions.size() == 20u);
  const Instruction& branch = kernels[0].instructions[5];
  BOOST_TEST(branch.address == 0x50);
  BOOST_TEST(branch.opcode == "BRA");
  BOOST_TEST((branch.target == 0xf0));
  BOOST_TEST(branch.goes_on);
  BOOST_TEST(!kernels[0].instructions[16].goes_on);
  BOOST_TEST(kernels[0].instructions[2].opcode == "LDG");
}

BOOST_AUTO_TEST_CASE(nested_loops_are_found_with_the_rare_path_of_the_inner_one) {
  const auto code = read_sass(kListing)[0].instructions;
  const auto loops = loops_of(code);
  BOOST_TEST_REQUIRE(loops.size() == 2u);
  const std::vector<size_t> outer = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16};
  const std::vector<size_t> inner = {4, 5, 6, 7, 8, 15, 16};
  BOOST_TEST(loops[0].body == outer, boost::test_tools::per_element());
  BOOST_TEST(!loops[0].is_innermost);
  BOOST_TEST(loops[1].body == inner, boost::test_tools::per_element());
  BOOST_TEST(loops[1].is_innermost);
}

BOOST_AUTO_TEST_CASE(instructions_in_loops_are_counted_once_by_kind) {
  const CodeCosts costs = code_costs(read_sass(kListing)[0].instructions);
  BOOST_TEST(costs.all == 19);
  BOOST_TEST(costs.n_innermost == 1);
  BOOST_TEST(costs.innermost == 7);
  BOOST_TEST(total(costs.in_loops) == 12);
  BOOST_TEST(n_of(costs, Kind::fp32) == 1);
  BOOST_TEST(n_of(costs, Kind::mufu) == 1);
  BOOST_TEST(n_of(costs, Kind::integer) == 1);
  BOOST_TEST(n_of(costs, Kind::convert) == 1);
  BOOST_TEST(n_of(costs, Kind::global) == 1);
  BOOST_TEST(n_of(costs, Kind::shared) == 1);
  BOOST_TEST(n_of(costs, Kind::control) == 6);
  BOOST_TEST(total(costs.whole) == costs.all);
  BOOST_TEST_REQUIRE(costs.each.size() == 1u);
  BOOST_TEST(total(costs.each[0]) == costs.innermost);
  BOOST_TEST(costs.each[0][static_cast<size_t>(Kind::fp32)] == 1);
}

BOOST_AUTO_TEST_CASE(the_tile_is_the_smallest_loop_with_tensor_instructions) {
  // 0..7 holds 1..4 and 5..6, of which the first alone multiplies.
  std::vector<Instruction> code(9);
  for (size_t i = 0; i < code.size(); ++i)
    code[i] = {.address = static_cast<int64_t>(16 * i), .opcode = "FADD"};
  code[2].opcode = "HMMA";
  for (const auto& [from, to] : {std::pair(4, 1), std::pair(6, 5), std::pair(7, 0)}) {
    code[from].opcode = "BRA";
    code[from].target = 16 * to;
  }
  BOOST_TEST((code_costs(code).tile == Counts{2, 0, 1, 0, 0, 0, 0, 1, 0}));
  code[2].opcode = "FADD";
  BOOST_TEST((code_costs(code).tile == Counts{}));
}

BOOST_AUTO_TEST_CASE(all_of_a_kernel_without_loops_is_counted) {
  const CodeCosts costs = code_costs(read_sass(kListing)[1].instructions);
  BOOST_TEST(costs.n_innermost == 0);
  BOOST_TEST(costs.innermost == 2);
  BOOST_TEST(n_of(costs, Kind::tensor) == 1);
  BOOST_TEST(total(costs.in_loops) == 2);
  BOOST_TEST(code_costs({}).innermost == 0);
}

BOOST_AUTO_TEST_CASE(loops_side_by_side_are_each_innermost) {
  std::vector<Instruction> code(6);
  for (size_t i = 0; i < code.size(); ++i)
    code[i] = {.address = static_cast<int64_t>(16 * i), .opcode = "BRA"};
  code[1].target = 0;   // 0..1
  code[4].target = 48;  // 3..4
  code[5].goes_on = false;
  const CodeCosts costs = code_costs(code);
  BOOST_TEST(costs.n_innermost == 2);
  BOOST_TEST(costs.innermost == 4);
  BOOST_TEST(total(costs.in_loops) == 4);
}

BOOST_AUTO_TEST_CASE(opcodes_have_the_kind_of_the_unit_that_they_keep_busy) {
  BOOST_TEST((kind_of("FFMA") == Kind::fp32));
  BOOST_TEST((kind_of("UIMAD") == Kind::integer));
  BOOST_TEST((kind_of("LDGSTS") == Kind::global));
  BOOST_TEST((kind_of("LDSM") == Kind::shared));
  BOOST_TEST((kind_of("SHFL") == Kind::other));
  BOOST_TEST(name_of(Kind::convert) == "convert");
  BOOST_TEST(name_of(Kind::other) == "other");
}

BOOST_AUTO_TEST_CASE(instructions_of_no_function_are_refused) {
  BOOST_CHECK_EXCEPTION(read_sass("        /*0000*/   EXIT ;   /* 0x1 */\n"), IoError,
                        says("[static_costs] expected a function before instructions, got"));
}

BOOST_AUTO_TEST_SUITE_END()
