#include <boost/test/unit_test.hpp>

#include "engine/cpu/instruction_set.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_instruction_set)  // ctest: arm64
namespace {

// A Sapphire Rapids as it should be.
CpuFeatures with_amx() {
  return {.is_x86 = true,
          .avx512_bf16 = true,
          .amx = true,
          .tiles_described = true,
          .tiles_permitted = true};
}

CpuFeatures without(bool CpuFeatures::*feature) {
  CpuFeatures features = with_amx();
  features.*feature = false;
  if (feature == &CpuFeatures::tiles_described) features.tiles_permitted = false;  // never asked
  return features;
}

}  // namespace

BOOST_AUTO_TEST_CASE(usable_tiles_get_products_of_bfloat16_and_no_limit) {
  const InstructionChoice choice = choose_instructions(with_amx(), "");
  BOOST_TEST(!choice.hold_below_amx);
  BOOST_TEST(choice.bf16);
  BOOST_TEST(choice.why_widened.empty());
}

// As virtual machines were seen that pass the bits of AMX on and not its leaf.
BOOST_AUTO_TEST_CASE(tiles_that_are_not_described_are_held_off_and_products_widened) {
  const InstructionChoice choice = choose_instructions(without(&CpuFeatures::tiles_described), "");
  BOOST_TEST(choice.hold_below_amx);
  BOOST_TEST(!choice.bf16);
  BOOST_TEST(choice.why_widened ==
             "the processor advertises AMX but describes no tiles (CPUID leaf 0x1D)");
}

BOOST_AUTO_TEST_CASE(tiles_that_the_system_does_not_permit_are_held_off_too) {
  const InstructionChoice choice = choose_instructions(without(&CpuFeatures::tiles_permitted), "");
  BOOST_TEST(choice.hold_below_amx);
  BOOST_TEST(!choice.bf16);
  BOOST_TEST(choice.why_widened == "the system does not permit the tiles of AMX (arch_prctl)");
}

BOOST_AUTO_TEST_CASE(without_amx_products_are_widened_and_the_library_is_left_alone) {
  CpuFeatures cooper_lake{.is_x86 = true, .avx512_bf16 = true};
  const InstructionChoice choice = choose_instructions(cooper_lake, "");
  BOOST_TEST(!choice.hold_below_amx);
  BOOST_TEST(!choice.bf16);
  BOOST_TEST(choice.why_widened == "the processor has AVX512-BF16 but no AMX");
  const InstructionChoice zen = choose_instructions({.is_x86 = true}, "");
  BOOST_TEST(!zen.hold_below_amx);
  BOOST_TEST(!zen.bf16);
  BOOST_TEST(zen.why_widened == "the processor has no AMX");
}

BOOST_AUTO_TEST_CASE(a_limit_of_the_user_below_amx_is_kept_whatever_the_processor_has) {
  for (const char* limit : {"AVX512_CORE_BF16", "avx2", "SSE41"})
    for (const CpuFeatures& features :
         {with_amx(), without(&CpuFeatures::tiles_described), CpuFeatures{.is_x86 = true}}) {
      const InstructionChoice choice = choose_instructions(features, limit);
      BOOST_TEST(!choice.hold_below_amx, limit);  // which would raise a limit of the user
      BOOST_TEST(!choice.bf16, limit);
    }
  BOOST_TEST(choose_instructions(with_amx(), "AVX2").why_widened == "oneDNN is limited to AVX2");
}

// oneDNN takes a name that it does not know for none.
BOOST_AUTO_TEST_CASE(a_limit_that_admits_amx_protects_nobody) {
  for (const char* limit : {"", "ALL", "AVX512_CORE_AMX", "AVX512_CORE_FP16", "avx513"}) {
    BOOST_TEST(choose_instructions(without(&CpuFeatures::tiles_described), limit).hold_below_amx,
               limit);
    BOOST_TEST(choose_instructions(with_amx(), limit).bf16, limit);
  }
}

BOOST_AUTO_TEST_CASE(other_architectures_are_left_to_the_library) {
  const InstructionChoice choice = choose_instructions({}, "");
  BOOST_TEST(!choice.hold_below_amx);
  BOOST_TEST(choice.bf16);
}

BOOST_AUTO_TEST_CASE(what_this_machine_says_fits_together) {
  const CpuFeatures& f = cpu_features();
  BOOST_TEST((f.is_x86 || !f.amx));
  BOOST_TEST((f.amx || !f.tiles_described));
  BOOST_TEST((f.tiles_described || !f.tiles_permitted));
  BOOST_TEST_MESSAGE("AMX " << f.amx << ", described " << f.tiles_described << ", permitted "
                            << f.tiles_permitted);
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
