#include <boost/test/unit_test.hpp>
#include <regex>

#include "engine/base/error.h"
#include "engine/product_choices.h"
#include "tests/support/messages.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_product_choices)
namespace {

ProductChoices some() {
  ProductChoices choices{"NVIDIA H100 80GB HBM3", "cuBLASLt 130002", {}};
  choices.of["2 x 3 by 3 x 4"] = {{1, 2, 3, 0xfedcba9876543210, 5, 6, 7, 8}, 1500.25, 2250, 8};
  choices.of["4 x 4 by 4 x 4"] = {{~uint64_t{0}, 0, 0, 0, 0, 0, 0, 9}, 3000, 3000, 1};
  return choices;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_text(some());
  const size_t at = text.find(from);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

void refuses(const std::string& text, const std::string& message) {
  BOOST_CHECK_EXCEPTION(parse_product_choices("products.json", text), IoError,
                        says("[products] products.json: ", message));
}

BOOST_AUTO_TEST_CASE(a_file_gives_back_what_was_written) {
  BOOST_TEST((parse_product_choices("products.json", to_text(some())) == some()));
  const ProductChoices none{"a", "b", {}};
  BOOST_TEST((parse_product_choices("products.json", to_text(none)) == none));
}

BOOST_AUTO_TEST_CASE(a_summary_says_what_was_gained) {
  BOOST_TEST(summary(some()) ==
             "2 measured, 1 faster by another algorithm than the one that cuBLASLt 130002 proposes "
             "first; one of each takes 4.500 ms instead of 5.250");
}

BOOST_AUTO_TEST_CASE(a_summary_says_what_dbias_costs) {
  ProductChoices choices = some();
  choices.of["2 x 3 by 3 x 4, dbias"] = {{1}, 1000, 1250, 9, 1500};
  choices.of["4 x 4 by 4 x 4, dbias"] = {{}, 2000, 3000, 9, 2000};
  BOOST_TEST(summary(choices) ==
             "4 measured, 3 faster by another algorithm than the one that cuBLASLt 130002 proposes "
             "first; one of each takes 7.500 ms instead of 9.500; 2 with dbias take 3.000 ms "
             "instead of 3.500 with a pass for it, kept for 1");
  BOOST_TEST((parse_product_choices("products.json", to_text(choices)) == choices));
}

BOOST_AUTO_TEST_CASE(a_summary_says_what_does_not_repeat) {
  BOOST_TEST(text_of_changing(some()) == "");
  ProductChoices choices = some();
  choices.of["4 x 4 by 4 x 4"].repeats = false;
  const std::string one =
      "1 gives other bits each time, by whichever algorithm: a run with it does not repeat bit by "
      "bit";
  BOOST_TEST(text_of_changing(choices) == one);
  BOOST_TEST(summary(choices) == summary(some()) + "; " + one);
  BOOST_TEST((parse_product_choices("products.json", to_text(choices)) == choices));
  choices.of["2 x 3 by 3 x 4"].repeats = false;
  BOOST_TEST(text_of_changing(choices).rfind("2 give other bits", 0) == 0);
}

BOOST_AUTO_TEST_CASE(files_of_before_are_read) {
  const std::string text = std::regex_replace(
      to_text(some()), std::regex(R"_(,\s*"(instead_us|repeats)": (0\.0|true))_"), "");
  BOOST_TEST(text.find("instead") == std::string::npos);
  BOOST_TEST(text.find("repeats") == std::string::npos);
  BOOST_TEST((parse_product_choices("products.json", text) == some()));
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_refused) {
  constexpr const char* kDamaged =
      "the checksum does not fit its content: the file was changed or is damaged";
  refuses(changed("fedcba98", "fedcba99"), kDamaged);
  refuses(changed("2 x 3", "2 x 5"), kDamaged);
  refuses(changed("H100", "H200"), kDamaged);
  refuses(changed("130002", "130003"), kDamaged);
  refuses(changed("fedc", "FEDC"), "expected 128 hexadecimal digits as the algorithm of '2 x 3");
  refuses(changed("fedc", "fed"), "expected 128 hexadecimal digits as the algorithm of '2 x 3");
  refuses(changed("4 x 4 by 4 x 4", "2 x 3 by 3 x 4"), "expected each product once");
  refuses(changed("1500.25", "\"1500.25\""), "expected a number 'time_us'");
  refuses(changed("\"repeats\": true", "\"repeats\": 1"), "expected true or false as 'repeats'");
  refuses(changed("\"library\"", "\"librari\""), "expected a text 'library'");
  refuses(changed("\"version\": 1", "\"version\": 2"), "expected the choices of products");
  refuses("[]", "expected the choices of products, version 1");
  BOOST_CHECK_THROW(parse_product_choices("products.json", to_text(some()).substr(0, 200)),
                    IoError);
}

BOOST_AUTO_TEST_CASE(the_cpu_has_no_choices) {
  BOOST_CHECK_EXCEPTION(tune_products(Device{}, [] {}), ConfigError,
                        says("[products] ", "expected a CUDA device"));
  BOOST_CHECK_EXCEPTION(use_product_choices(Device{}, some()), ConfigError,
                        says("[products] ", "expected a CUDA device"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
