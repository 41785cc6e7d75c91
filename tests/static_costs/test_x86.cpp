#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "tests/static_costs/x86.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_x86)

using namespace farfield;
using namespace farfield::static_costs;

namespace {

// As objdump prints it: a spill before a loop, in the loop a reload, and a vector of an array that
// a register which is no frame points to; then a function with a frame and an outer loop.
constexpr const char* kListing = R"(
attention_forward.cpp.o:     file format elf64-x86-64


Disassembly of section .text:

0000000000000000 <void multiply_block<float, 2>(BlockProduct<float> const&)>:
   0:	sub    $0x78,%rsp
   4:	vmovaps %ymm9,0x20(%rsp)
   a:	vmovups -0x20(%rbp),%ymm0
   f:	nopl   0x0(%rax,%rax,1)
  10:	vbroadcastss (%rax),%ymm2
  15:	vfmadd231ps 0x20(%rsp),%ymm2,%ymm0
  19:	vmovups %ymm0,-0x40(%rsp){%k1}
  1c:	vfmadd231ss %xmm2,%xmm1,%xmm3
  21:	add    $0x4,%rax
  25:	jne    10 <void multiply_block<float, 2>(BlockProduct<float> const&)+0x10>
  27:	ret

Disassembly of section .text._ZN4nestEv:

0000000000000000 <nest()>:
   0:	push   %rbp
   1:	mov    %rsp,%rbp
   4:	and    $0xffffffffffffffc0,%rsp
   8:	vmovaps %zmm17,-0x80(%rbp)
   f:	vmovups (%rax,%rbx,8),%zmm0
  16:	call   1b <nest()+0x1b>
  1b:	jle    20 <nest()+0x20>
  1c:	vmulps (%rax),%ymm1,%ymm2
  1d:	vfnmadd213pd %zmm1,%zmm2,%zmm3
  20:	jb     1b <nest()+0x1b>
  22:	vmovaps -0x80(%rbp),%zmm17
  29:	vmovaps 0x10(%rbp),%ymm17
  2f:	jmp    8 <nest()+0x8>
)";

}  // namespace

BOOST_AUTO_TEST_CASE(functions_and_instructions_of_a_listing_are_read) {
  const auto functions = read_x86(kListing);
  BOOST_TEST_REQUIRE(functions.size() == 2);
  BOOST_TEST(functions[0].name == "void multiply_block<float, 2>(BlockProduct<float> const&)");
  BOOST_TEST_REQUIRE(functions[0].instructions.size() == 11);
  BOOST_TEST(functions[0].instructions[5].address == 0x15);
  BOOST_TEST(functions[0].instructions[5].opcode == "vfmadd231ps");
  BOOST_TEST(functions[0].instructions[9].target.value() == 0x10);
  BOOST_TEST(!functions[0].instructions[10].goes_on);
  BOOST_TEST(functions[1].name == "nest()");
  BOOST_TEST(!functions[1].instructions.back().goes_on);
}

BOOST_AUTO_TEST_CASE(whole_vectors_on_the_stack_are_counted_apart_in_innermost_loops) {
  const auto functions = read_x86(kListing);
  BOOST_TEST(functions[0].count(HostKind::to_stack) == 2);
  BOOST_TEST(functions[0].count_in_loops(HostKind::to_stack) == 1);
  BOOST_TEST(functions[0].count(HostKind::from_stack) == 1);
  BOOST_TEST(functions[0].count_in_loops(HostKind::from_stack) == 1);
  BOOST_TEST(functions[0].count(HostKind::multiply) == 0);  // its operand is on the stack
  BOOST_TEST(functions[1].count(HostKind::to_stack) == 1);
  BOOST_TEST(functions[1].count(HostKind::from_stack) == 1);
  BOOST_TEST(functions[1].count_in_loops(HostKind::to_stack) == 0);
  BOOST_TEST(functions[1].count_in_loops(HostKind::multiply) == 2);
  BOOST_TEST(functions[1].count(HostKind::call) == 1);
}

BOOST_AUTO_TEST_CASE(a_listing_without_functions_is_empty_or_refused) {
  BOOST_TEST(read_x86("").empty());
  BOOST_TEST(read_x86("a.o:     file format elf64-x86-64\n").empty());
  BOOST_CHECK_EXCEPTION(read_x86("   0:\tret\n"), IoError, says("before instructions, got '0:"));
}

BOOST_AUTO_TEST_SUITE_END()
