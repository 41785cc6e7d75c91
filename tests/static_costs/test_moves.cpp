#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "tests/static_costs/moves.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_moves)

using namespace farfield;
using namespace farfield::static_costs;

namespace {

// A function with a loop of these instructions.
HostFunction loop_of(const std::string& name, std::vector<HostKind> kinds) {
  HostFunction function = {.name = name};
  kinds.push_back(HostKind::other);
  for (size_t i = 0; i < kinds.size(); ++i)
    function.instructions.push_back({.address = static_cast<int64_t>(i)});
  function.instructions.back().target = 0;
  function.kinds = std::move(kinds);
  return function;
}

constexpr HostKind kMove = HostKind::to_stack, kFma = HostKind::multiply;
const std::string kBlock = "void multiply_block<float, 6>(P const&)";

std::string flaw_of(std::vector<HostKind> kinds) {
  const ObjectMoves object = moves_of("a.cpp.o", {loop_of(kBlock, std::move(kinds))});
  BOOST_TEST(object.n_block == 1);
  return object.broken.empty() ? "" : object.broken[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(moves_of_all_functions_of_an_object_are_added) {
  const ObjectMoves object =
      moves_of("engine/cpu/norm.cpp.o",
               {loop_of("f()", {kMove, kFma}), loop_of("g()", {kMove, HostKind::from_stack})});
  BOOST_TEST(object.file == "norm.cpp");
  BOOST_TEST(object.name == "cpu/norm.cpp");
  BOOST_TEST(object.moves.all == 3);
  BOOST_TEST(object.moves.in_loops == 2);
  BOOST_TEST(object.n_product == 1);
  BOOST_TEST(object.n_block == 0);
}

BOOST_AUTO_TEST_CASE(a_register_block_multiplies_in_a_loop_and_neither_spills_nor_calls) {
  BOOST_TEST(flaw_of({kFma, HostKind::other}) == "");
  BOOST_TEST(flaw_of({kFma, kMove}) == kBlock + ": 1 moves of vectors to and from the stack");
  BOOST_TEST(flaw_of({HostKind::from_stack}) ==
             kBlock + ": 1 moves of vectors to and from the stack");
  BOOST_TEST(flaw_of({kFma, HostKind::call}) == kBlock + ": 1 calls");
  BOOST_TEST(flaw_of({HostKind::other}) == kBlock + ": a loop that multiplies no vectors");
}

BOOST_AUTO_TEST_CASE(what_exceeds_its_limit_is_named_with_both_numbers) {
  ObjectMoves object = {
      .file = "norm.cpp", .name = "cpu/norm.cpp", .moves = {5, 2}, .n_product = 7};
  const auto limits =
      limits_of("limits.csv", "file,moves,in_loops,least_products\nnorm.cpp,5,2,7\n");
  BOOST_TEST(failures({object}, limits).empty());
  object.moves = {6, 3};
  object.n_product = 6;
  object.broken = {"multiply_block<1>: 1 calls"};
  const std::vector<std::string> expected = {
      "cpu/norm.cpp: expected at most 5 moves, got 6",
      "cpu/norm.cpp: expected at most 2 moves to the stack in innermost loops, got 3",
      "cpu/norm.cpp: expected at least 7 products of vectors in innermost loops, got 6",
      "cpu/norm.cpp: expected sums in registers, got multiply_block<1>: 1 calls"};
  BOOST_TEST(failures({object}, limits) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_file_without_a_limit_is_judged_by_its_register_blocks_alone) {
  ObjectMoves object = {.file = "new.cpp", .name = "cpu/new.cpp", .moves = {90, 9}};
  BOOST_TEST(failures({object}, {}).empty());
  object.broken = {"multiply_block<1>: 1 calls"};
  BOOST_TEST(failures({object}, {}).size() == 1);
}

BOOST_AUTO_TEST_CASE(damaged_limits_are_refused_with_their_line) {
  const std::string columns = "file,moves,in_loops,least_products\n";
  BOOST_CHECK_EXCEPTION(limits_of("l.csv", "file,moves\n"), IoError,
                        says("l.csv: expected in line 1"));
  BOOST_CHECK_EXCEPTION(limits_of("l.csv", columns + "a.cpp,1\n"), IoError, says("line 2, got 2"));
  BOOST_CHECK_EXCEPTION(limits_of("l.csv", columns + "a.cpp,1,x,2\n"), IoError,
                        says("line 2, got 'x'"));
}

BOOST_AUTO_TEST_SUITE_END()
