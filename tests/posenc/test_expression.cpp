#include <boost/test/unit_test.hpp>

#include "engine/base/random.h"
#include "posenc/expression.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_expression)  // ctest: sanitize
namespace {

// The whole message of the error that an expression gives; "" when it parses.
std::string error_of(std::string_view text, FormOf form_of = nullptr) {
  try {
    parse_expression(text, form_of);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

BOOST_AUTO_TEST_CASE(a_term_has_name_arguments_and_layers) {
  const auto terms = parse_expression(" rope ( half , base = 1e4,x=[ 1, -.5 ,2e-3 ] ) @ 0 .. -2 ");
  BOOST_TEST_REQUIRE(terms.size() == 1u);
  const ParsedTerm& term = terms[0];
  BOOST_TEST(term.name == "rope");
  BOOST_TEST(term.column == 2u);
  BOOST_TEST_REQUIRE(term.arguments.size() == 3u);
  BOOST_TEST(term.arguments[0].name == "");
  BOOST_TEST(term.arguments[0].value.text == "half");
  BOOST_TEST(term.arguments[1].name == "base");
  BOOST_TEST(term.arguments[1].value.number == 1e4);
  BOOST_TEST((term.arguments[2].value.list == std::vector<double>{1, -0.5, 2e-3}));
  BOOST_TEST(term.arguments[2].value.column == 29u);
  BOOST_TEST_REQUIRE(term.layers.has_value());
  BOOST_TEST(term.layers->first == 0);
  BOOST_TEST(term.layers->last == -2);
}

BOOST_AUTO_TEST_CASE(terms_are_joined_by_plus) {
  const auto terms = parse_expression("rope@0..-2+window(16)@0..-2+log_n@-1");
  BOOST_TEST_REQUIRE(terms.size() == 3u);
  BOOST_TEST(terms[1].name == "window");
  BOOST_TEST(terms[1].arguments[0].value.number == 16);
  BOOST_TEST(terms[2].layers->first == -1);
  BOOST_TEST(terms[2].layers->last == -1);
}

BOOST_AUTO_TEST_CASE(an_exponent_is_part_of_its_number_and_not_a_plus) {
  const auto terms = parse_expression("a(1e+3)+b(2)");
  BOOST_TEST_REQUIRE(terms.size() == 2u);
  BOOST_TEST(terms[0].arguments[0].value.number == 1000);
}

BOOST_AUTO_TEST_CASE(every_kind_of_value_reads_back_as_written) {
  for (const char* text :
       {"3", "-0.1", "1e+22", "5e-324", "1.7976931348623157e+308", "word_2", "[1,2.5,-3]", "[]",
        R"("a \"b\" \\ c")", "@tables/a-b.csv", R"(@"a file (1), copy.csv")"}) {
    const Value value = parse_expression(concat("t(", text, ")"))[0].arguments[0].value;
    BOOST_TEST(to_text(value) == text);
  }
}

BOOST_AUTO_TEST_CASE(a_quoted_text_keeps_what_would_end_it_elsewhere) {
  const Value value = parse_expression(R"(t("a), b + \"c\" \\"))")[0].arguments[0].value;
  BOOST_TEST((value.kind == Value::Kind::text));
  BOOST_TEST(value.text == R"(a), b + "c" \)");
}

BOOST_AUTO_TEST_CASE(a_file_ends_at_a_comma_a_parenthesis_or_white_space) {
  const auto arguments = parse_expression("t(@a.csv, b=@c.csv )")[0].arguments;
  BOOST_TEST_REQUIRE(arguments.size() == 2u);
  BOOST_TEST(arguments[0].value.text == "a.csv");
  BOOST_TEST(arguments[1].value.text == "c.csv");
  for (const char* nameless : {"t(@)", "t(@\"\")"})
    BOOST_TEST(error_of(nameless).find("a file name after '@'") != std::string::npos, nameless);
}

BOOST_AUTO_TEST_CASE(errors_name_what_was_expected_the_column_and_the_place) {
  BOOST_TEST(error_of("alibi + + window") ==
             "[posenc] expected the name of an encoding, got '+' at column 9\n"
             "  alibi + + window\n"
             "          ^");
  BOOST_TEST(error_of("alibi(slopes=[1, 2)") ==
             "[posenc] expected ',' or ']' after a number, got ')' at column 19\n"
             "  alibi(slopes=[1, 2)\n"
             "                    ^");
  BOOST_TEST(error_of("window(3") ==
             "[posenc] expected ',' or ')' after an argument, got the end at column 9\n"
             "  window(3\n"
             "          ^");
}

BOOST_AUTO_TEST_CASE(each_mistake_has_its_own_message) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected the name of an encoding, got the end"},
      {"3", "expected the name of an encoding, got '3'"},
      {"t5(params=@\xff)", "expected an expression in UTF-8, got "},
      {"-a * log(1 + b*d)",
       "expected the name of an encoding (a formula is written kernel(bias=...)), got '-'"},
      {"a * log(d)",
       "expected '(', '@', '+' or the end (a formula is written kernel(bias=...)), got '*'"},
      {"a b", "expected '(', '@', '+' or the end, got 'b'"},
      {"a(1) b", "expected '@', '+' or the end, got 'b'"},
      {"a@1 2", "expected '+' or the end, got '2'"},
      {"a(1,2)", "expected name=value; only the first argument may go without a name, got '2'"},
      {"a(1,x)", "expected name=value; only the first argument may go without a name, got 'x'"},
      {"a(x=)", "expected a value (a number, a word, a list in brackets, a quoted text or @file)"},
      {"a(nan)", ""},  // a word here; no encoding takes it
      {"a(-inf)", "expected a value"},
      {"a(3x)", "expected the end of the number before it, got 'x'"},
      {"a(1.2.3)", "expected the end of the number before it, got '.'"},
      {"a(1e999)", "expected a number that fits a float64"},
      {"a([1,])", "expected a number, got ']'"},
      {"a([[1]])", "expected a number, got '['"},
      {"a(\"x)", "expected a closing '\"' for this one"},
      {"a(\"\\n\")", "expected '\"' or '\\' after '\\', got 'n'"},
      {"a(@)", "expected a file name after '@'"},
      {"a@x", "expected a layer (an integer; -1 is the last layer), got 'x'"},
      {"a@1.2", "expected '..' between two layers, got '2'"},
      {"a@1..", "expected a layer (an integer; -1 is the last layer), got the end"},
      {"a@99999999999999999999", "expected a layer"},
      {"a\x01", "got an unprintable byte"},
  };
  for (const auto& [text, message] : cases) {
    const std::string error = error_of(text);
    BOOST_TEST((*message == '\0') == error.empty(), text << " gave: " << error);
    BOOST_TEST(error.find(message) != std::string::npos, text << " gave: " << error);
  }
}

// As the registry tells it for an encoding "k" with a formula "f" and declarations.
Form form_of_k(std::string_view encoding, std::string_view argument, char after) {
  if (encoding != "k") return Form::value;
  if (argument == "f" || argument.empty()) return Form::formula;
  return argument == "x" || std::string_view("=<>~").find(after) == std::string_view::npos
             ? Form::value
             : Form::declaration;
}

BOOST_AUTO_TEST_CASE(formulas_and_declarations_are_kept_as_written) {
  const std::string text = "k( f = -r * max(d, [2]), x=3, r >0~U(0, 1) , s=[1, 2])@1 + a(f=2)";
  BOOST_TEST(error_of("k(f=-r*d)").find("expected a value") != std::string::npos);
  const auto terms = parse_expression(text, form_of_k);
  BOOST_TEST_REQUIRE(terms.size() == 2u);
  const auto& arguments = terms[0].arguments;
  BOOST_TEST_REQUIRE(arguments.size() == 4u);
  BOOST_TEST(arguments[0].name == "f");
  BOOST_TEST((arguments[0].value.kind == Value::Kind::formula));
  BOOST_TEST(arguments[0].value.text == "-r * max(d, [2])");
  BOOST_TEST(arguments[0].value.column == 8u);
  BOOST_TEST(arguments[1].value.number == 3);
  BOOST_TEST(arguments[2].name == "r");
  BOOST_TEST((arguments[2].value.kind == Value::Kind::declaration));
  BOOST_TEST(arguments[2].value.text == ">0~U(0, 1)");
  BOOST_TEST(text.substr(arguments[2].value.column - 1, 2) == ">0");
  BOOST_TEST(arguments[3].value.text == "=[1, 2]");
  BOOST_TEST(terms[0].layers->first == 1);
  BOOST_TEST(terms[1].arguments[0].value.number == 2);
}

BOOST_AUTO_TEST_CASE(the_first_formula_may_go_without_its_name) {
  for (const char* text : {"k(d)", "k( -r*d )", "k((d))", "k(f(d))", "k(f*2)"}) {
    const auto arguments = parse_expression(text, form_of_k)[0].arguments;
    BOOST_TEST_REQUIRE(arguments.size() == 1u);
    BOOST_TEST(arguments[0].name == "");
    BOOST_TEST((arguments[0].value.kind == Value::Kind::formula), text);
  }
  BOOST_TEST(parse_expression("k()", form_of_k)[0].arguments.empty());
}

BOOST_AUTO_TEST_CASE(a_formula_that_does_not_end_is_refused_at_its_open_bracket) {
  BOOST_TEST(error_of("k(f=2*(d", form_of_k) ==
             "[posenc] expected a closing bracket for this one, got '(' at column 7\n"
             "  k(f=2*(d\n"
             "        ^");
  BOOST_TEST(error_of("k(f=d", form_of_k) ==
             "[posenc] expected ',' or ')' after an argument, got the end at column 6\n"
             "  k(f=d\n"
             "       ^");
}

BOOST_AUTO_TEST_CASE(a_place_is_shown_on_one_printable_line) {
  BOOST_TEST(show_place("a\n\t\x01+", 4) == " at column 4\n  a  ?+\n     ^");
  const std::string shown = show_place(std::string(500, 'x'), 300);
  BOOST_TEST(shown ==
             " at column 300\n  " + std::string(120, 'x') + "\n  " + std::string(60, ' ') + "^");
  BOOST_TEST(show_place("a", 0) == "");
}

BOOST_AUTO_TEST_CASE(size_and_depth_are_bounded) {
  BOOST_TEST(error_of(std::string(kMaxExpressionSize + 1, 'a'))
                 .find("expected an expression of at most 8192 bytes, got 8193") !=
             std::string::npos);
  std::string many = "a";
  for (int i = 0; i < 64; ++i) many += "+a";
  BOOST_TEST(error_of(many).find("expected at most 64 terms") != std::string::npos);
  BOOST_TEST(error_of("a(" + std::string(8000, '[')).find("expected a number") !=
             std::string::npos);
  BOOST_TEST(error_of("a" + std::string(8000, '(')).find("expected a value") != std::string::npos);
}

// Random texts: valid ones with bytes changed, inserted, removed, and mere noise.
BOOST_AUTO_TEST_CASE(any_text_parses_or_is_refused_with_a_place) {
  const std::string seeds[] = {"rope@0..-2 + window(16)@0..-2 + log_n(mode=clipped)@-1",
                               "alibi(slopes=[0.5,0.25,1e-3], slope_floor=0.01)",
                               "t5(table=@file.csv) + x(\"a\\\"b\")",
                               "kerple_log(r1=[0.5,1.2], r2=0.3, constraint=softplus, share=layer)",
                               "k(f=-r*log(1+s*d), r>0~U(0,2), s>=0.5<=1=[0.5,1], x=2)"};
  const std::string alphabet = "abk_<>~^019+-.,()[]@\"\\= \n\x80\xff\x01" + std::string(1, '\0');
  const Random random{7, stream_of("fuzz")};
  uint64_t draw = 0;
  const auto below = [&](size_t n) { return static_cast<size_t>(random.below(draw++, n)); };
  int n_parsed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 4 == 0 ? "" : seeds[below(std::size(seeds))];
    for (size_t edit = 0, n_edit = text.empty() ? below(40) : below(5); edit < n_edit; ++edit) {
      const char c = alphabet[below(alphabet.size())];
      const size_t at = below(text.size() + 1);
      const size_t kind = text.empty() ? 0 : below(3);
      if (kind == 0)
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), c);
      else if (kind == 1)
        text.erase(at, 1);
      else
        text[at % text.size()] = c;
    }
    const std::string error = error_of(text, form_of_k);
    n_parsed += error.empty();
    if (!error.empty())
      BOOST_TEST(error.find(" at column ") != std::string::npos, text << " gave: " << error);
  }
  BOOST_TEST(n_parsed > 1000);   // some mutations leave a valid text
  BOOST_TEST(n_parsed < 15000);  // and most do not
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
