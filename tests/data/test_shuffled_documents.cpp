#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "data/shuffled_documents.h"
#include "data/token_file.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_shuffled_documents)

using namespace farfield;
using namespace farfield::data;

namespace {

constexpr int32_t kEnd = 256;

// Documents of a letter each, '|' for what ends one.
Tokens file_of(const TempFolder& folder, const std::string& text) {
  std::vector<int32_t> ids;
  for (const char c : text) ids.push_back(c == '|' ? kEnd : c);
  TokenWriter writer(folder / "test.tokens", 257);
  writer.append(ids);
  writer.count_document(static_cast<int64_t>(text.size()));
  writer.commit();
  return open_token_file(folder / "test.tokens").tokens;
}

ShuffledDocuments shuffled(const Tokens& tokens, uint64_t seed) {
  return {tokens, document_begins(tokens, kEnd), seed};
}

std::string read(const ShuffledDocuments& documents, int64_t begin, int64_t n) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  documents.copy(begin, n, ids.data());
  std::string text;
  for (const int32_t id : ids) text += id == kEnd ? '|' : static_cast<char>(id);
  return text;
}

std::string read(const ShuffledDocuments& documents) {
  return read(documents, 0, documents.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_token_knows_its_place_in_the_file) {
  const TempFolder folder;
  const Tokens file = file_of(folder, "a|bb|ccc||dddd|e|cut");
  const ShuffledDocuments documents = shuffled(file, 3);
  std::set<int64_t> places;
  for (int64_t i = 0; i < documents.size(); ++i) {
    int32_t here = 0, there = 0;
    documents.copy(i, 1, &here);
    file.copy(documents.place(i), 1, &there);
    BOOST_TEST(here == there);
    places.insert(documents.place(i));
  }
  BOOST_TEST(static_cast<int64_t>(places.size()) == file.size());
  for (const int64_t i : {int64_t{-1}, documents.size()})
    BOOST_CHECK_EXCEPTION(documents.place(i), ConfigError,
                          says("[tokens] expected a token within"));
}

BOOST_AUTO_TEST_CASE(a_seed_chooses_the_order_and_documents_stay_whole) {
  const TempFolder folder;
  const Tokens file = file_of(folder, "a|bb|ccc||dddd|e|cut");
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ShuffledDocuments documents = shuffled(file, seed);
    BOOST_TEST(documents.documents() == 6);
    BOOST_TEST(documents.size() == file.size());
    const std::string text = read(documents);
    BOOST_TEST(text == read(shuffled(file, seed)));
    BOOST_TEST(text.substr(text.size() - 3) == "cut");
    orders.insert(text);
    std::vector<std::string> parts;
    for (size_t at = 0, end = 0; (end = text.find('|', at)) != std::string::npos; at = end + 1)
      parts.push_back(text.substr(at, end - at));
    std::sort(parts.begin(), parts.end());
    BOOST_TEST(parts == (std::vector<std::string>{"", "a", "bb", "ccc", "dddd", "e"}),
               boost::test_tools::per_element());
  }
  BOOST_TEST(orders.size() > 15u);
}

BOOST_AUTO_TEST_CASE(every_range_is_a_part_of_the_whole) {
  const TempFolder folder;
  const ShuffledDocuments documents = shuffled(file_of(folder, "a|bb|ccc||dddd|e|cut"), 3);
  const std::string text = read(documents);
  for (int64_t begin = 0; begin <= documents.size(); ++begin)
    for (int64_t n = 0; begin + n <= documents.size(); ++n)
      BOOST_TEST(read(documents, begin, n) ==
                 text.substr(static_cast<size_t>(begin), static_cast<size_t>(n)));
  for (const auto& [begin, n] : std::vector<std::pair<int64_t, int64_t>>{{0, 21}, {20, 1}, {-1, 1}})
    BOOST_CHECK_EXCEPTION(read(documents, begin, n), ConfigError,
                          says("[tokens] expected a range of tokens within 20"));
}

BOOST_AUTO_TEST_CASE(without_a_second_document_it_is_the_file) {
  const TempFolder folder;
  for (const std::string text : {"a long text without an end", "one|", "one|and a rest"})
    for (uint64_t seed = 0; seed < 5; ++seed)
      BOOST_TEST(read(shuffled(file_of(folder, text), seed)) == text);
}

BOOST_AUTO_TEST_CASE(documents_longer_than_a_piece_of_reading_are_found) {
  const TempFolder folder;
  std::string text(200000, 'x');
  for (const size_t end : {65535u, 65536u, 140000u}) text[end] = '|';
  const ShuffledDocuments documents = shuffled(file_of(folder, text), 1);
  BOOST_TEST(documents.documents() == 3);
  const std::string shuffled = read(documents);
  BOOST_TEST(std::count(shuffled.begin(), shuffled.end(), '|') == 3);
  BOOST_TEST(shuffled.substr(140001) == std::string(59999, 'x'));
}

BOOST_AUTO_TEST_SUITE_END()
