// What items stand for, held against the protocols themselves: a model whose nll for a token is the
// token says which ones it was asked for.
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/eval/protocol.h"
#include "apps/eval/protocols/cached.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/non_overlapping.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/protocols/sliding.h"
#include "tests/apps/eval/protocols/toy_models.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_items)
namespace {

constexpr int64_t kSize = 203;

// A text that stands in its file in two halves, the second one first.
TokenStream halves() {
  TokenStream text = test::toy_text(kSize);
  text.place = [](int64_t i) { return (i + kSize / 2) % kSize; };
  return text;
}

int32_t token_at(const TokenStream& text, int64_t i) {
  int32_t id = 0;
  text.copy(i, 1, &id);
  return id;
}

Scorer echo() {
  return test::model_of([](const int32_t*, int64_t, int32_t target) { return double{1} * target; });
}

// The mean of the tokens at "12-14 20" of the file.
double mean_at(const TokenStream& text, const std::string& places) {
  std::istringstream ranges(places);
  double sum = 0;
  int64_t n = 0;
  for (std::string range; ranges >> range;) {
    const size_t dash = range.find('-');
    const int64_t first = std::stoll(range);
    const int64_t last = dash == std::string::npos ? first : std::stoll(range.substr(dash + 1));
    for (int64_t place = first; place <= last; ++place, ++n)
      sum += token_at(text, (place + kSize - kSize / 2) % kSize);
  }
  return sum / static_cast<double>(n);
}

void check_places(const ProtocolResult& result, const TokenStream& text) {
  for (const LengthResult& cell : result.lengths) {
    BOOST_TEST_REQUIRE(cell.places.size() == cell.items.size());
    BOOST_TEST_REQUIRE(!cell.items.empty());
    for (size_t i = 0; i < cell.items.size(); ++i)
      BOOST_TEST(mean_at(text, cell.places[i]) == cell.items[i],
                 boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(places_are_those_of_the_tokens_that_were_scored) {
  const TokenStream text = halves();
  const Subject subject = test::subject(echo(), text);
  CommonOptions common;
  common.lengths = {4, 16, 30};
  check_places(last_token(subject, common, {.segments = 5}), text);
  check_places(last_token(subject, common, {.segments = 5, .context = "L"}), text);
  check_places(non_overlapping(subject, common, {}), text);
  check_places(non_overlapping(subject, common, {.keep_tail = true}), text);
  check_places(sliding(subject, common, {}), text);
  check_places(position_wise(subject, common, {.sequences = 4}), text);
  Subject truncated = subject;
  truncated.model.baseline = parse_baseline("truncated@3");
  check_places(position_wise(truncated, common, {.sequences = 4, .truncated_every = 3}), text);
}

BOOST_AUTO_TEST_CASE(a_text_that_knows_no_places_has_none) {
  LengthResult cell;
  cell.length = 8;
  cell.items = {1, 2};
  set_places(cell, {}, test::toy_text(100), predicted_by_chunk);
  BOOST_TEST(cell.places.empty());
}

// As they were before anything was said besides: what was finished then is taken now.
BOOST_AUTO_TEST_CASE(protocol_hashes_are_those_of_before) {
  const Subject subject = test::subject(echo(), test::toy_text(200));
  CommonOptions common;
  common.lengths = {4, 40};
  const ProtocolResult last = last_token(subject, common, {.segments = 6});
  BOOST_TEST(last.parameters == "segments=6 set=per-seed longest=40 context=L-1");
  BOOST_TEST(last.hash() == "69f82ae7e2baf18c");
  BOOST_TEST(non_overlapping(subject, common, {}).hash() == "65301e0b9f89ef69");
  BOOST_TEST(sliding(subject, common, {}).hash() == "9e15a863235a1709");
  BOOST_TEST(position_wise(subject, common, {.sequences = 4}).hash() == "a48ca4901af47c9d");
  // test_cached.cpp and test_kernel_definiteness.cpp have theirs
}

BOOST_AUTO_TEST_CASE(conventions_say_what_first_token_counts_and_which_t_are_summed) {
  ProtocolResult of;
  of.protocol = "last-token";
  of.parameters = "segments=6 set=per-seed longest=40 context=L-1";
  BOOST_TEST(conventions_of(of, 4) ==
             "first_token: of the segment (from 0, documents in document order); first_token + 39 "
             "is predicted");
  of.protocol = "cached";
  of.parameters += " cache=7 timed=8";
  BOOST_TEST(
      conventions_of(of).ends_with("; score_evaluations: t = 1 .. n over the n = L - 1 inputs"));
  BOOST_TEST(conventions_of(of, 16).ends_with("t = 1 .. n over the n = 15 inputs"));
  of.parameters = "segments=6 set=per-seed longest=40 context=L cache=7 timed=8";
  BOOST_TEST(conventions_of(of, 16).ends_with("t = 1 .. n over the n = 16 inputs"));
  of.protocol = "non-overlapping";
  BOOST_TEST(conventions_of(of, 16) ==
             "first_token: the first input of the chunk (from 0, documents in document order); the "
             "16 tokens behind it are predicted");
  of.protocol = "reach";
  BOOST_TEST(conventions_of(of) == "");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
