#define BOOST_TEST_MODULE arguments
#include <boost/test/unit_test.hpp>

#include "posenc/arguments.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
namespace {

const std::vector<ArgumentSpec>& specs() {
  static const std::vector<ArgumentSpec> list = {
      integer_argument("size", 8, "").at_least(2).at_most(100),
      number_argument("rate", 0.5, "").above(0), word_argument("mode", {"soft", "hard"}, ""),
      per_head_argument("slopes", "U(0,1)", "").at_least(0),
      derived_integer(
          "length", "train_len", [](const Config& c) { return static_cast<double>(c.train_len); },
          "")
          .at_least(1)};
  return list;
}
Arguments resolve(std::string_view text) {
  return Arguments(text, parse_expression(text)[0], "thing", specs(), model_of(2));
}
// The first line of the error, without "[posenc] ".
std::string refusal(std::string_view text) {
  const std::string error = error_of([&] { resolve(text); });
  return error.empty() ? "" : error.substr(9, error.find('\n') - 9);
}

BOOST_AUTO_TEST_CASE(what_is_left_out_has_its_default) {
  const Arguments a = resolve("thing");
  BOOST_TEST(a.integer("size") == 8);
  BOOST_TEST(a.number("rate") == 0.5);
  BOOST_TEST(a.word("mode") == "soft");
  BOOST_TEST(!a.has("slopes"));
  BOOST_TEST(a.integer("length") == 16);
}

BOOST_AUTO_TEST_CASE(the_first_argument_may_go_without_its_name) {
  const Arguments a = resolve("thing(9, mode=hard, slopes=3)");
  BOOST_TEST(a.integer("size") == 9);
  BOOST_TEST(a.word("mode") == "hard");
  BOOST_TEST((a.per_head("slopes") == std::vector<double>{3, 3}));
  BOOST_TEST((resolve("thing(slopes=[1,2])").per_head("slopes") == std::vector<double>{1, 2}));
}

BOOST_AUTO_TEST_CASE(the_canonical_text_has_what_differs_and_what_depends_on_the_model) {
  BOOST_TEST(resolve("thing").canonical() == "(length=16)");
  BOOST_TEST(resolve("thing(8, rate=5e-1, mode=soft)").canonical() == "(length=16)");
  BOOST_TEST(resolve("thing(length=16, mode=hard, size=9.0, slopes=[1, 2.50])").canonical() ==
             "(size=9, mode=hard, slopes=[1,2.5], length=16)");
}

BOOST_AUTO_TEST_CASE(each_mistake_is_refused_with_what_was_expected) {
  const std::pair<const char*, const char*> cases[] = {
      {"thing(sise=3)",
       "thing takes size, rate, mode, slopes or length, got 'sise'; did you mean 'size'? at column "
       "7"},
      {"thing(3, size=4)", "thing(size): expected it once, got it again at column 10"},
      {"thing(2.5)", "thing(size): expected an integer >= 2 and <= 100, got 2.5 at column 7"},
      {"thing(1)", "thing(size): expected an integer >= 2 and <= 100, got 1 at column 7"},
      {"thing(101)", "thing(size): expected an integer >= 2 and <= 100, got 101 at column 7"},
      {"thing(rate=0)", "thing(rate): expected a number > 0, got 0 at column 12"},
      {"thing(rate=big)", "thing(rate): expected a number > 0, got big at column 12"},
      {"thing(rate=[1])", "thing(rate): expected a number > 0, got [1] at column 12"},
      {"thing(mode=sft)",
       "thing(mode): expected soft or hard, got sft; did you mean 'soft'? at column 12"},
      {"thing(mode=\"soft\")", "thing(mode): expected soft or hard, got \"soft\" at column 12"},
      {"thing(mode=@soft)", "thing(mode): expected soft or hard, got @soft at column 12"},
      {"thing(slopes=[1])",
       "thing(slopes): expected a number >= 0 or a list of them, one per head, got 1 of them; this "
       "model has 2 heads at column 14"},
      {"thing(slopes=[1,-1])",
       "thing(slopes): expected a number >= 0 or a list of them, one per head, got [1,-1] at "
       "column "
       "14"},
      {"thing(length=1e300)", "thing(length): expected an integer >= 1, got 1e+300 at column 14"},
  };
  for (const auto& [text, message] : cases) BOOST_TEST(refusal(text) == message);
}

BOOST_AUTO_TEST_CASE(an_encoding_refuses_at_the_place_of_the_value) {
  const Arguments a = resolve("thing( size = 9 )");
  BOOST_TEST(error_of([&] { a.require(false, "size", "expected an even number, got ", 9); }) ==
             "[posenc] thing(size): expected an even number, got 9 at column 15\n"
             "  thing( size = 9 )\n"
             "                ^");
  BOOST_TEST(error_of([&] { a.require(false, "rate", "too small"); }) ==
             "[posenc] thing(rate): too small");
  BOOST_TEST(error_of([&] { a.require(true, "rate", ""); }) == "");
}

}  // namespace
}  // namespace farfield::posenc
