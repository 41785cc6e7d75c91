#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include "engine/base/random.h"
#include "posenc/formula.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"
#include "tests/support/grad_check.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_formula)  // ctest: on_cuda sanitize
namespace {

using Values = std::map<std::string, Tensor>;

std::string text_of(std::string_view text) { return Formula(text).text(); }
double value_of(std::string_view text) { return Formula(text).value({}, Device{}).item(); }
std::string error_of_formula(std::string_view text) {
  return error_of([&] { Formula{text}; });
}
Tensor vector_of(const std::vector<double>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())}, DType::f64);
}

BOOST_AUTO_TEST_CASE(operators_bind_as_in_mathematics) {
  const std::pair<const char*, double> cases[] = {{"1+2*3", 7},
                                                  {"(1+2)*3", 9},
                                                  {"7-2-1", 4},
                                                  {"7-(2-1)", 6},
                                                  {"12/3/2", 2},
                                                  {"12/(3/2)", 8},
                                                  {"12/3*2", 8},
                                                  {"-2^2", -4},
                                                  {"(-2)^2", 4},
                                                  {"2^-1", 0.5},
                                                  {"2^3^2", 512},
                                                  {"(2^3)^2", 64},
                                                  {"-2^-2^2", -0.0625},
                                                  {"--3", 3},
                                                  {"2*-3", -6},
                                                  {"2--3", 5},
                                                  {"2+-3", -1},
                                                  {" 1\t+ 2\n* .5 ", 2},
                                                  {"1e3", 1000},
                                                  {"2e-1", 0.2},
                                                  {"pi", std::numbers::pi},
                                                  {"2*e", 2 * std::numbers::e}};
  for (const auto& [text, want] : cases) BOOST_TEST(value_of(text) == want, text);
}

BOOST_AUTO_TEST_CASE(every_function_is_the_function_of_its_name) {
  const double x = 0.7, y = 0.3;
  const std::pair<const char*, double> cases[] = {
      {"abs(-x)", x},
      {"cos(x)", std::cos(x)},
      {"exp(x)", std::exp(x)},
      {"gelu(x)", x * (1 + std::erf(x / std::sqrt(2.0))) / 2},
      {"log(x)", std::log(x)},
      {"log1p(x)", std::log1p(x)},
      {"max(x,y)", x},
      {"min(x,y)", y},
      {"pow(x,y)", std::pow(x, y)},
      {"relu(-x)", 0},
      {"sigmoid(x)", 1 / (1 + std::exp(-x))},
      {"silu(x)", x / (1 + std::exp(-x))},
      {"sin(x)", std::sin(x)},
      {"sqrt(x)", std::sqrt(x)},
      {"square(x)", x * x},
      {"tanh(x)", std::tanh(x)}};
  BOOST_TEST(std::size(cases) + 2 == formula_words().size());  // and e and pi
  for (const auto& [text, want] : cases) {
    const Tensor got = Formula(text).value({{"x", vector_of({x})}, {"y", vector_of({y})}}, {});
    BOOST_TEST(all_close(got, vector_of({want}), Tolerance(1e-14)), text);
  }
}

BOOST_AUTO_TEST_CASE(shapes_broadcast) {
  const Values values = {{"d", vector_of({0, 1, 2})},
                         {"r", Tensor::from({3, 5}, {2, 1}, DType::f64)}};
  const Tensor table = Formula("1 - r*d").value(values, {});
  BOOST_TEST((table.shape() == Shape{2, 3}));
  BOOST_TEST((table.to_vector() == std::vector<double>{1, -2, -5, 1, -4, -9}));
}

BOOST_AUTO_TEST_CASE(the_text_is_the_shortest_that_parses_to_the_same) {
  const std::pair<const char*, const char*> cases[] = {
      {" - r1 * log( 1+r2 * d ) ", "-r1*log(1+r2*d)"},
      {"((a)+((b)))", "a+b"},
      {"a+(b+c)", "a+(b+c)"},
      {"(a+b)+c", "a+b+c"},
      {"a-(b-c)", "a-(b-c)"},
      {"a*(b/c)", "a*(b/c)"},
      {"(a*b)/c", "a*b/c"},
      {"(-a)*b", "-a*b"},
      {"-(a*b)", "-(a*b)"},
      {"(-a)^b", "(-a)^b"},
      {"-(a^b)", "-a^b"},
      {"(a^b)^c", "(a^b)^c"},
      {"a^(b^c)", "a^b^c"},
      {"a^(-b)", "a^-b"},
      {"a^(b*c)", "a^(b*c)"},
      {"a+(-b)", "a+-b"},
      {"-(-a)", "--a"},
      {"max( a , (b) )", "max(a,b)"},
      {"2.50e0", "2.5"},
      {"1000000000000000000000000*d", "1e+24*d"},
      {"pi*e", "pi*e"}};
  for (const auto& [text, want] : cases) {
    BOOST_TEST(text_of(text) == want);
    BOOST_TEST(text_of(want) == want);
  }
}

BOOST_AUTO_TEST_CASE(ln_is_another_name_for_log) {
  BOOST_TEST(Formula("-r*ln(1+ln (d))").text() == "-r*log(1+log(d))");
  BOOST_TEST(Formula("ln(1+x)").value({{"x", vector_of({1e-17})}}, {}).item() == 1e-17);
  BOOST_TEST(Formula("ln*d").names().front().name == "ln");  // without parentheses a parameter
}

BOOST_AUTO_TEST_CASE(names_are_listed_with_their_columns) {
  const std::string text = "kernel( -r1*exp(d) + pi)";
  const Formula formula(text, 8, 15);
  BOOST_TEST_REQUIRE(formula.names().size() == 2u);
  BOOST_TEST(formula.names()[0].name == "r1");
  BOOST_TEST(formula.names()[0].column == 10u);
  BOOST_TEST(formula.names()[1].name == "d");
  BOOST_TEST(formula.names()[1].column == 17u);
}

BOOST_AUTO_TEST_CASE(each_mistake_is_refused_at_its_place) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected a number, a name, '-' or '(', got the end at column 1\n"},
      {"+d", "expected a number, a name, '-' or '(', got '+' at column 1\n"},
      {"2*", "expected a number, a name, '-' or '(', got the end at column 3\n"},
      {"2**d",
       "expected a number, a name, '-' or '(', got '*'; did you mean '^', as in d^2? at column "
       "3\n"},
      {"()", "expected a number, a name, '-' or '(', got ')' at column 2\n"},
      {"2 d", "expected an operator (+ - * / ^) or the end of the formula, got 'd' at column 3\n"},
      {"2d", "expected the end of the number before it, got 'd' at column 2\n"},
      {"1.2.3", "expected the end of the number before it, got '.' at column 4\n"},
      {"0x10", "expected the end of the number before it, got 'x' at column 2\n"},
      {"1e999", "expected a number that fits a float64, got '1' at column 1\n"},
      {".", "expected a number, got '.' at column 1\n"},
      {"d = 1",
       "expected an operator (+ - * / ^) or the end of the formula, got '=' at column 3\n"},
      {"d)", "expected an operator (+ - * / ^) or the end of the formula, got ')' at column 2\n"},
      {"(d", "expected an operator (+ - * / ^) or ')', got the end at column 3\n"},
      {"(d]", "expected an operator (+ - * / ^) or ')', got ']' at column 3\n"},
      {"exp(d", "expected an operator (+ - * / ^), ',' or ')', got the end at column 6\n"},
      {"log*d", "expected '(' after the function log, got '*' at column 4\n"},
      {"sqrt", "expected '(' after the function sqrt, got the end at column 5\n"},
      {"exp()", "expected a number, a name, '-' or '(', got ')' at column 5\n"},
      {"exp(d, 2)", "exp takes one argument, got 2 at column 1\n"},
      {"1+max(d)", "max takes two arguments, got 1 at column 3\n"},
      {"min(1,2,3)", "min takes two arguments, got 3 at column 1\n"},
      {"lgo(d)", "expected a function before '(', got 'lgo'; did you mean 'log'? at column 1\n"},
      {"LOG(d)", "expected a function before '(', got 'LOG'; did you mean 'log'? at column 1\n"},
      {"power(d,2)",
       "expected a function before '(', got 'power'; did you mean 'pow'? at column 1\n"},
      {"2*gaussian(d)",
       "expected a function before '(', got 'gaussian'; there are abs, cos, exp, gelu, log, log1p, "
       "max, min, pow, relu, sigmoid, silu, sin, sqrt, square, tanh at column 3\n"},
      {"d\x01", "got an unprintable byte at column 2\n"}};
  for (const auto& [text, message] : cases) {
    const std::string error = error_of_formula(text);
    BOOST_TEST(error.find(message) != std::string::npos, text << " gave: " << error);
  }
}

BOOST_AUTO_TEST_CASE(an_error_shows_the_whole_text_with_a_caret) {
  BOOST_TEST(error_of([] { Formula("alibi + kernel(d*(2+))", 15, 6); }) ==
             "[posenc] expected a number, a name, '-' or '(', got ')' at column 21\n"
             "  alibi + kernel(d*(2+))\n"
             "                      ^");
}

BOOST_AUTO_TEST_CASE(nesting_and_length_are_bounded) {
  const auto repeated = [](const std::string& text, int n) {
    std::string all;
    for (int i = 0; i < n; ++i) all += text;
    return all;
  };
  for (const char* open : {"(", "-", "2^", "exp(", "2^(", "-("}) {
    BOOST_TEST(
        error_of_formula(repeated(open, 4000)).find("expected at most 100 levels of nesting") !=
            std::string::npos,
        open);
    BOOST_TEST(error_of_formula(repeated(open, 40)).find("nesting") == std::string::npos, open);
  }
  BOOST_TEST(error_of_formula(repeated("1+", 4000))
                 .find("expected at most 1000 numbers, names and operators") != std::string::npos);
  const std::string sum = repeated("1+", 499) + "1";
  BOOST_TEST(value_of(sum) == 500);
  BOOST_TEST(text_of(sum) == sum);
  const std::string nested = repeated("(", 99) + "2" + repeated(")", 99);
  BOOST_TEST(text_of(nested) == "2");
}

BOOST_AUTO_TEST_CASE(log_of_one_plus_is_accurate_near_zero) {
  for (const char* text : {"log(1+x)", "log(x+1)", "log(1.0 + (x))", "log(1 + x/2 + x/2)"}) {
    const Tensor got = Formula(text).value({{"x", vector_of({1e-17})}}, {});
    BOOST_TEST(got.item() == 1e-17, text);
  }
  BOOST_TEST(Formula("log(2+x)").value({{"x", vector_of({1e-17})}}, {}).item() == std::log(2.0));
  BOOST_TEST(Formula("log(1-x)").value({{"x", vector_of({1e-17})}}, {}).item() == 0);
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  for (const char* text :
       {"-a*log(1+b*x)", "a^x*x^b", "sqrt(a*x)/(1+b)", "max(a,b*x)-min(x,a)", "abs(a-x)*2^-b",
        "tanh(a)*sigmoid(b)*silu(x)+gelu(a*b)", "exp(-b*square(x))*cos(a*x)+sin(pi*b)/e",
        "pow(a+x,relu(b))", "log(a)+log1p(b)-x/a/b", "a"}) {
    const Formula formula(text);
    const auto f = [&](const std::vector<Tensor>& in) {
      return formula.value({{"a", in[0]}, {"b", in[1]}, {"x", in[2]}}, {});
    };
    BOOST_TEST(gradients_agree(ManyToOne(f),
                               {random_tensor({3, 1}, 1, 0.2, 1.7),
                                random_tensor({3, 1}, 2, 0.3, 1.9), random_tensor({4}, 3, 0.5, 3)}),
               text);
  }
}

// d/dr of (r d)^p at d = 0 is 0 for every r, although the derivative of x^p at x = 0 is infinite.
BOOST_AUTO_TEST_CASE(roots_at_distance_zero_have_gradient_zero) {
  for (const char* text : {"sqrt(r*d)", "(r*d)^0.5", "pow(r*d,0.5)", "(r*d)^p", "d^(p*r)",
                           "sqrt(sqrt(r*d))", "r*d^p"}) {
    Tensor r = vector_of({0.7}), p = vector_of({0.5});
    r.set_requires_grad();
    p.set_requires_grad();
    const Values values = {{"r", r}, {"p", p}, {"d", vector_of({0, 2})}};
    const Tensor table = Formula(text).value(values, {});
    BOOST_TEST(table.to_vector()[0] == 0, text);
    backward(table, vector_of({1, 0}));
    BOOST_TEST(r.grad().item() == 0, text);
    if (p.grad().defined()) BOOST_TEST(p.grad().item() == 0, text);
    r.set_grad({});
    backward(Formula(text).value(values, {}), vector_of({0, 1}));
    BOOST_TEST((std::isfinite(r.grad().item()) && r.grad().item() != 0), text);
  }
}

// Where the slope is finite it is the true one: x^1 and x^2 at 0.
BOOST_AUTO_TEST_CASE(whole_powers_keep_their_slope_at_zero) {
  for (const auto& [text, slope] :
       {std::pair{"x^1", 1.0}, {"x^2", 0.0}, {"x^0", 0.0}, {"x^1.5+x", 1.0}}) {
    Tensor x = vector_of({0});
    x.set_requires_grad();
    backward(Formula(text).value({{"x", x}}, {}));
    BOOST_TEST(x.grad().item() == slope, text);
  }
}

BOOST_AUTO_TEST_CASE(the_slope_of_abs_at_zero_is_zero) {
  Tensor x = vector_of({-2, 0, 3});
  x.set_requires_grad();
  backward(Formula("abs(x)").value({{"x", x}}, {}), vector_of({1, 1, 1}));
  BOOST_TEST((x.grad().to_vector() == std::vector<double>{-1, 0, 1}));
}

// Random texts: valid ones with characters changed, and mere noise. What parses has a text that
// parses to the same text and has the same value.
BOOST_AUTO_TEST_CASE(any_text_parses_or_is_refused_with_a_place) {
  const std::string seeds[] = {"-r1*log(1+r2*d)", "exp(-r*d^p)",
                               "max(0,1-d/8)^2*cos(2*pi*h/n_head)", "2^-(8*h/n_head)*d-1e-3"};
  const std::string alphabet = "drhe+-*/^(),.019 mx\x80\n" + std::string(1, '\0');
  const Values values = {{"d", vector_of({0, 1, 2.5})}, {"h", vector_of({2})},
                         {"n_head", vector_of({4})},    {"r", vector_of({0.5})},
                         {"r1", vector_of({0.25})},     {"r2", vector_of({1.5})},
                         {"p", vector_of({0.75})}};
  const Random random{5, stream_of("fuzz")};
  uint64_t draw = 0;
  const auto below = [&](size_t n) { return static_cast<size_t>(random.below(draw++, n)); };
  int n_parsed = 0, n_valued = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 4 == 0 ? "" : seeds[below(std::size(seeds))];
    for (size_t edit = 0, n_edit = text.empty() ? below(20) : below(5); edit < n_edit; ++edit) {
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
    const std::string error = error_of_formula(text);
    if (!error.empty()) {
      BOOST_TEST(error.find(" at column ") != std::string::npos, text << " gave: " << error);
      continue;
    }
    ++n_parsed;
    const Formula formula(text), again(formula.text());
    BOOST_TEST(again.text() == formula.text(), text);
    const auto has_value = [&](const Formula::Name& used) { return values.count(used.name) > 0; };
    if (!std::all_of(formula.names().begin(), formula.names().end(), has_value)) continue;
    ++n_valued;
    BOOST_TEST(same_bits(again.value(values, {}), formula.value(values, {})), text);
  }
  BOOST_TEST(n_parsed > 2000);
  BOOST_TEST(n_parsed < 15000);
  BOOST_TEST(n_valued > 1000);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
