#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "apps/eval/text.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_protocol)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

TokenSet set_of(const std::vector<std::pair<int64_t, int64_t>>& ranges) {
  TokenSet set;
  for (const auto& [begin, n] : ranges) set.add(begin, n);
  return set;
}

std::string name_of(const TokenSet& set, const std::string& id = "text") {
  TokenStream text = toy_text(100);
  text.id = id;
  return set.name(text);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_token_set_counts_each_token_once) {
  BOOST_TEST(set_of({}).size() == 0);
  BOOST_TEST(set_of({{5, 3}}).size() == 3);
  BOOST_TEST(set_of({{5, 3}, {5, 3}, {6, 1}}).size() == 3);
  BOOST_TEST(set_of({{10, 2}, {5, 3}, {7, 2}}).size() == 6);
  TokenSet set = set_of({{0, 4}});
  BOOST_TEST(set.size() == 4);
  set.add(2, 4);  // after it was asked
  BOOST_TEST(set.size() == 6);
}

BOOST_AUTO_TEST_CASE(its_bytes_are_those_of_its_tokens_alone) {
  TokenStream text = toy_text(100);
  BOOST_TEST(set_of({{5, 3}}).bytes_per_token(text) == 0);  // not known
  text.count_bytes = [](int64_t begin, int64_t n) {         // token i has i bytes
    return n * begin + n * (n - 1) / 2;
  };
  BOOST_TEST(set_of({}).bytes_per_token(text) == 0);
  BOOST_TEST(set_of({{5, 3}}).bytes_per_token(text) == 6);
  BOOST_TEST(set_of({{5, 3}, {6, 2}, {11, 1}}).bytes_per_token(text) == (5 + 6 + 7 + 11) / 4.);
}

BOOST_AUTO_TEST_CASE(its_name_depends_on_the_set_and_the_text_alone) {
  const std::string name = name_of(set_of({{5, 3}, {20, 1}}));
  BOOST_TEST(name.size() == 16u);
  BOOST_TEST(name_of(set_of({{20, 1}, {5, 3}})) == name);
  BOOST_TEST(name_of(set_of({{7, 1}, {20, 1}, {5, 2}})) == name);
  BOOST_TEST(name_of(set_of({{5, 3}, {20, 1}}), "other") != name);
  BOOST_TEST(name_of(set_of({{5, 3}, {21, 1}})) != name);
  BOOST_TEST(name_of(set_of({{5, 3}, {20, 2}})) != name);
  // Digits do not run into each other.
  BOOST_TEST(name_of(set_of({{1, 1}, {12, 1}})) != name_of(set_of({{11, 1}, {12, 1}})));
}

BOOST_AUTO_TEST_CASE(tokens_are_checked_to_the_last_of_any_number) {
  constexpr int64_t kSize = 200000;  // more than is read at once
  int64_t bad = -1, n_read = 0;
  TokenStream text;
  text.size = kSize;
  text.copy = [&](int64_t begin, int64_t n, int32_t* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = begin + i == bad ? -1 : kToyVocab - 1;
    n_read += n;
  };
  const auto check = [&](int64_t begin, int64_t n) {
    check_tokens("x", text, kToyVocab, begin, n);
  };
  check(0, kSize);
  BOOST_TEST(n_read == kSize);
  for (bad = 99; bad < kSize; bad += 49975)
    BOOST_CHECK_EXCEPTION(
        check(99, kSize - 99), IoError,
        says(concat("[eval:x] bad_token: expected ids below 11, got -1 at token ", bad)));
  bad = 100;
  check(101, 7);
  check(93, 7);
  check(100, 0);
}

BOOST_AUTO_TEST_CASE(counts_are_said_once_and_where_they_are_fewer) {
  const auto text = [](std::vector<int64_t> lengths) {
    return counts_text(lengths, [](int64_t length) { return std::min<int64_t>(10, 100 / length); });
  };
  BOOST_TEST(text({2, 10}) == "10");
  BOOST_TEST(text({20}) == "5");
  BOOST_TEST(text({20, 20}) == "5");
  BOOST_TEST(text({50, 10, 20}) == "10 (2 at 50, 5 at 20)");
}

BOOST_AUTO_TEST_CASE(what_no_protocol_can_use_is_refused) {
  CommonOptions common;
  common.lengths = {8, 1};
  BOOST_CHECK_EXCEPTION(check_common("x", common), ConfigError,
                        says("[eval:x] length_too_short: expected lengths from 2 on, got 1"));
  common.lengths = {};
  BOOST_CHECK_EXCEPTION(check_common("x", common), ConfigError, says("[eval:x] bad_argument: "));
  common.lengths = {8};
  common.batch_tokens = -1;
  BOOST_CHECK_EXCEPTION(check_common("x", common), ConfigError,
                        says("[eval:x] bad_argument: expected batch-tokens >= 0, got -1"));
  BOOST_CHECK_EXCEPTION(check_word("context", "l", {"L-1", "L"}), ConfigError,
                        says("[eval] bad_argument: --context: expected one of L-1, L, got 'l'"));
}

BOOST_AUTO_TEST_SUITE_END()
