#include <boost/test/unit_test.hpp>
#include <cmath>

#include "posenc/arguments.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_arguments)  // ctest: sanitize
namespace {

ArgumentSpec with_text(std::string text, ArgumentSpec spec) {
  spec.default_text = std::move(text);
  return spec;
}
const std::vector<ArgumentSpec>& specs() {
  static const std::vector<ArgumentSpec> list = {
      integer_argument("size", 8, "").at_least(2).at_most(100),
      number_argument("rate", 0.5, "").above(0),
      word_argument("mode", {"soft", "hard"}, ""),
      per_head_argument("slopes", "U(0,1)", "").at_least(0),
      required_integer("length", "")
          .derived("train_len",
                   [](const Config& c, const Arguments&) { return Value(c.train_len); })
          .at_least(1),
      required_number("gain", "")
          .derived("sqrt(2 head_dim)",
                   [](const Config& c, const Arguments&) {
                     return Value(std::sqrt(static_cast<double>(2 * c.head_dim)));
                   }),
      per_head_argument("values", "N(0,1)", "").or_file(),
      with_text("none", required_integers("places", "").at_least(-1).at_most(50))};
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
  BOOST_TEST(a.number("gain") == 4);
  BOOST_TEST(!a.has("values"));
  BOOST_TEST(a.file("values") == "");
}

BOOST_AUTO_TEST_CASE(a_file_may_stand_for_values) {
  BOOST_TEST(resolve("thing(values=@a/b.csv)").file("values") == "a/b.csv");
  BOOST_TEST(resolve("thing(values=@\"a b.csv\")").file("values") == "a b.csv");
  BOOST_TEST(resolve("thing(values=3)").file("values") == "");
  BOOST_TEST(resolve("thing(values=@a.csv)").canonical() == "(length=16, gain=4, values=@a.csv)");
}

BOOST_AUTO_TEST_CASE(a_list_of_integers_is_as_long_as_it_likes) {
  const auto places = [](const char* text) { return resolve(text).integers("places"); };
  BOOST_TEST((places("thing(places=[ -1, 7 ,50])") == std::vector<int64_t>{-1, 7, 50}));
  BOOST_TEST((places("thing(places=[3])") == std::vector<int64_t>{3}));
  BOOST_TEST(resolve("thing(places=[1, 2.0])").canonical() == "(length=16, gain=4, places=[1,2])");
  for (const char* wrong : {"[]", "[1,2.5]", "[1,51]", "[-2]", "7", "none"})
    BOOST_TEST(refusal(concat("thing(places=", wrong, ')')) ==
               concat("thing(places): expected a list of integers >= -1 and <= 50, got ", wrong,
                      " at column 14"));
}

BOOST_AUTO_TEST_CASE(the_first_argument_may_go_without_its_name) {
  const Arguments a = resolve("thing(9, mode=hard, slopes=3)");
  BOOST_TEST(a.integer("size") == 9);
  BOOST_TEST(a.word("mode") == "hard");
  BOOST_TEST((a.per_head("slopes") == std::vector<double>{3, 3}));
  BOOST_TEST((resolve("thing(slopes=[1,2])").per_head("slopes") == std::vector<double>{1, 2}));
}

BOOST_AUTO_TEST_CASE(the_canonical_text_has_what_differs_and_what_depends_on_the_model) {
  BOOST_TEST(resolve("thing").canonical() == "(length=16, gain=4)");
  BOOST_TEST(resolve("thing(8, rate=5e-1, mode=soft)").canonical() == "(length=16, gain=4)");
  BOOST_TEST(resolve("thing(length=16, mode=hard, size=9.0, slopes=[1, 2.50])").canonical() ==
             "(size=9, mode=hard, slopes=[1,2.5], length=16, gain=4)");
}

BOOST_AUTO_TEST_CASE(each_mistake_is_refused_with_what_was_expected) {
  const std::pair<const char*, const char*> cases[] = {
      {"thing(sise=3)",
       "thing takes size, rate, mode, slopes, length, gain, values or places, got 'sise'; did you "
       "mean "
       "'size'? "
       "at column 7"},
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
      {"thing(values=\"a.csv\")",
       "thing(values): expected a number or a list of them, one per head or @file, got \"a.csv\" "
       "at "
       "column 14"},
      {"thing(gain=@a.csv)", "thing(gain): expected a number, got @a.csv at column 12"},
      {"thing(length=1e300)", "thing(length): expected an integer >= 1, got 1e+300 at column 14"},
  };
  for (const auto& [text, message] : cases) BOOST_TEST(refusal(text) == message);
}

BOOST_AUTO_TEST_CASE(a_default_may_depend_on_an_argument_before_it) {
  const std::vector<ArgumentSpec> list = {
      integer_argument("first", 4, "").at_least(0),
      required_integer("rest", "")
          .derived("train_len - first",
                   [](const Config& c, const Arguments& a) {
                     return Value(c.train_len - a.integer("first"));
                   })
          .at_least(1),
      word_argument("mode", {"soft", "hard"}, "")};
  const auto canonical = [&](std::string_view text) {
    return Arguments(text, parse_expression(text)[0], "thing", list, model_of(2)).canonical();
  };
  BOOST_TEST(canonical("thing") == "(rest=12)");
  BOOST_TEST(canonical("thing(6)") == "(first=6, rest=10)");
  BOOST_TEST(canonical("thing(rest=3, first=4)") == "(rest=3)");
}

BOOST_AUTO_TEST_CASE(a_word_may_stand_for_a_number) {
  const std::vector<ArgumentSpec> list = {
      word_argument("group", {"auto"}, "").or_integer().at_least(1),
      word_argument("centre", {"auto"}, "").or_number(), required_number("scale", "times")};
  const auto resolve_these = [&](std::string_view text) {
    return Arguments(text, parse_expression(text)[0], "thing", list, model_of(2));
  };
  const Arguments words = resolve_these("thing(scale=2.5)");
  BOOST_TEST((words.word("group") == "auto" && words.word("centre") == "auto"));
  const Arguments numbers = resolve_these("thing(3, centre=-0.5, scale=2.5)");
  BOOST_TEST((numbers.integer("group") == 3 && numbers.number("centre") == -0.5));
  BOOST_TEST((numbers.word("group").empty() && numbers.number("scale") == 2.5));
  BOOST_TEST(numbers.canonical() == "(group=3, centre=-0.5, scale=2.5)");
  BOOST_TEST(error_of([&] {
               resolve_these("thing(1.5, scale=1)");
             }).find("thing(group): expected auto or an integer >= 1, got 1.5") !=
             std::string::npos);
  BOOST_TEST(error_of([&] {
               resolve_these("thing");
             }).find("thing needs scale, a number (times); write thing(scale=...)") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_encoding_refuses_at_the_place_of_the_value) {
  const Arguments a = resolve("thing( size = 9 )");
  BOOST_TEST(error_of([&] { a.require(false, "size", "expected an even number, got ", 9); }) ==
             "[posenc] thing(size): expected an even number, got 9 at column 15\n"
             "  thing( size = 9 )\n"
             "                ^");
  BOOST_TEST(error_of([&] { a.require(false, "rate", "too small"); }) ==
             "[posenc] thing(rate): too small at column 1\n  thing( size = 9 )\n  ^");
  BOOST_TEST(error_of([&] { a.require(true, "rate", ""); }) == "");
}

// An encoding with a formula "bias" and parameters of the user's own.
Arguments resolve_formula(std::string_view text) {
  static const std::vector<ArgumentSpec> list = {formula_argument("bias", "none", ""),
                                                 declared_parameters("NAME", ""),
                                                 number_argument("rate", 0.5, "")};
  const auto form = [](std::string_view, std::string_view argument, char after) {
    if (argument.empty() || (argument == "bias" && after == '=')) return Form::formula;
    return argument != "rate" && std::string_view("=<>~").find(after) != std::string_view::npos
               ? Form::declaration
               : Form::value;
  };
  return Arguments(text, parse_expression(text, form)[0], "thing", list, model_of(2));
}

BOOST_AUTO_TEST_CASE(formulas_and_declared_parameters_have_one_canonical_text) {
  const Arguments a =
      resolve_formula("thing(rate=2, s = [1, 2], bias = -(r)*d + s, r > 0 ~ U(0, 1))");
  BOOST_TEST(a.canonical() == "(bias=-r*d+s, r>0~U(0,1), s=[1,2], rate=2)");
  BOOST_TEST(a.formula("bias")->names().size() == 3u);
  BOOST_TEST((a.formula("g") == nullptr));
  BOOST_TEST_REQUIRE(a.declarations().size() == 2u);
  BOOST_TEST(a.declarations()[0].name == "r");
  BOOST_TEST(a.declarations()[1].name == "s");
  BOOST_TEST(resolve_formula("thing").canonical() == "");
}

BOOST_AUTO_TEST_CASE(declarations_that_make_no_sense_are_refused) {
  const std::pair<const char*, const char*> cases[] = {
      {"thing(d, r=1)",
       "thing takes bias or rate, got 'r', a parameter that no formula uses at column 10"},
      {"thing(r*d, r=1, r=2)", "thing(r): expected it once, got it again at column 17"},
      {"thing(r*d, r=[1,2,3])",
       "thing(r): expected a number per head, got 3 of them; this model has 2 heads at column 14"},
      {"thing(exp(d), exp=1)",
       "thing(exp): means something else in formulas; expected another name for a parameter at "
       "column 15"},
      {"thing(rat=fast)", "thing takes bias or rate, got 'rat'; did you mean 'rate'? at column 7"},
      {"thing(bias=1, bias=2)", "thing(bias): expected it once, got it again at column 15"}};
  for (const auto& [text, message] : cases) {
    const std::string error = error_of([&, &t = text] { resolve_formula(t); });
    BOOST_TEST_REQUIRE(!error.empty(), text);
    BOOST_TEST(error.substr(9, error.find('\n') - 9) == message);
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
