#include <boost/test/unit_test.hpp>
#include <cmath>

#include "posenc/declaration.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_declaration)  // ctest: sanitize
namespace {

// Of a parameter r.
Declaration parsed(const std::string& rest) {
  return parse_declaration("r" + rest, "r", 1, 1, rest.size());
}
// The first line of the error, without "[posenc] ".
std::string refusal(const std::string& rest) {
  const std::string error = error_of([&] { parsed(rest); });
  return error.empty() ? "" : error.substr(9, error.find('\n') - 9);
}

BOOST_AUTO_TEST_CASE(bounds_and_initial_values_are_read) {
  const Declaration drawn = parsed(" > 0 ~ U( 0 , 2 )");
  BOOST_TEST(drawn.is_drawn());
  BOOST_TEST(drawn.least == 0.01);
  BOOST_TEST(std::isinf(drawn.most));
  BOOST_TEST(drawn.low == 0);
  BOOST_TEST(drawn.high == 2);

  const Declaration list = parsed(">=-1<=2.5=[-1, 0, 2.5]");
  BOOST_TEST(!list.is_drawn());
  BOOST_TEST(list.is_list);
  BOOST_TEST(list.least == -1);
  BOOST_TEST(list.most == 2.5);
  BOOST_TEST((list.values == std::vector<double>{-1, 0, 2.5}));
  BOOST_TEST(list.start_column == 12u);

  const Declaration free = parsed("=-3");
  BOOST_TEST(std::isinf(free.least));
  BOOST_TEST((free.values == std::vector<double>{-3}));
  BOOST_TEST(!free.is_list);
}

BOOST_AUTO_TEST_CASE(the_text_is_the_shortest_that_parses_to_the_same) {
  const std::pair<const char*, const char*> cases[] = {
      {" > 0 ~ U( 0 , 2 )", "r>0~U(0,2)"},
      {">=0.01=0.5", "r>0=0.5"},
      {" >= 1e-6 <= 2 = [1, 2]", "r>=1e-06<=2=[1,2]"},
      {"<=3~U(-1,1)", "r<=3~U(-1,1)"},
      {"= 0.50", "r=0.5"},
      {"=[7]", "r=[7]"}};
  for (const auto& [rest, want] : cases) {
    BOOST_TEST(parsed(rest).text() == want);
    BOOST_TEST(parsed(std::string(want).substr(1)).text() == want);
  }
}

BOOST_AUTO_TEST_CASE(each_mistake_is_refused_at_its_place) {
  const std::pair<const char*, const char*> cases[] = {
      {">0",
       "expected how r starts, ~U(low,high), =number or =[a number per head], got the end at "
       "column "
       "4"},
      {">0<", "expected '=' after '<', as in r<=2, got the end at column 5"},
      {"<2=1", "expected '=' after '<', as in r<=2, got '2' at column 3"},
      {">5=6",
       "parameter r: expected 0 after '>' (at least 0.01); write r>=c for another bound at column "
       "3"},
      {">x=1", "expected 0 after '>', got 'x' at column 3"},
      {">=x=1", "expected a lower bound after '>=', got 'x' at column 4"},
      {"<=x=1", "expected an upper bound after '<=', got 'x' at column 4"},
      {">=2<=1=1",
       "parameter r: expected bounds with numbers between them, got >=2<=1 at column 1"},
      {"~2", "expected U(low,high) after r~, got '2' at column 3"},
      {"~N(0,1)", "expected U(low,high) after r~, got 'N' at column 3"},
      {"~U(0;1)", "expected U(low,high) after r~, got ';' at column 6"},
      {"~U(a,1)", "expected the lower end of U(low,high), got 'a' at column 5"},
      {"~U(0,b)", "expected the upper end of U(low,high), got 'b' at column 7"},
      {"~U(0,1", "expected U(low,high) after r~, got the end at column 8"},
      {"~U(1,1)", "parameter r: expected low < high in U(low,high) at column 3"},
      {">=2~U(0,2)", "parameter r: expected initial values >= 2, got U(0,2) at column 6"},
      {">0<=1~U(2,3)",
       "parameter r: expected initial values >= 0.01 and <= 1, got U(2,3) at column 8"},
      {">0=0.001", "parameter r: expected initial values >= 0.01, got 0.001 at column 5"},
      {"<=1=[0,2]", "parameter r: expected initial values <= 1, got 2 at column 6"},
      {"=1e39",
       "parameter r: expected initial values from -3.4028234663852886e+38 to "
       "3.4028234663852886e+38, which float32 can hold, got 1e+39 at column 3"},
      {">0=[1,1e308]",
       "parameter r: expected initial values from -3.4028234663852886e+38 to "
       "3.4028234663852886e+38, which float32 can hold, got 1e+308 at column 5"},
      {"~U(0,1e39)",
       "parameter r: expected initial values from -3.4028234663852886e+38 to "
       "3.4028234663852886e+38, which float32 can hold, got 1e+39 at column 3"},
      {">=1e39=1e40",
       "parameter r: expected bounds from -3.4028234663852886e+38 to 3.4028234663852886e+38, which "
       "float32 can hold, got 1e+39 at column 1"},
      {"=[]", "parameter r: expected one number per head, got none at column 3"},
      {"=[1", "expected ',' or ']' after a number, got the end at column 5"},
      {"=half",
       "expected a number, or a list in brackets with a number per head, got 'h' at column 3"},
      {"=1 2", "expected ',' or ')' after the initial value of r, got '2' at column 5"},
      {"~U(0,1)x", "expected ',' or ')' after the initial value of r, got 'x' at column 9"}};
  for (const auto& [rest, message] : cases) BOOST_TEST(refusal(rest) == message, rest);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
