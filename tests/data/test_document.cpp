#include <boost/test/unit_test.hpp>

#include "data/document.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_document)
namespace {

std::string text_of_size(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i)
    text += std::to_string(i) + "\xE4\xB8\xAD\xF0\x9F\x98\x80\xC3\xA9";
  cut_utf8(text, size);
  return text;
}

std::string read_all(const Document& document) {
  std::string text;
  document.read([&](std::string_view block) {
    BOOST_TEST(find_invalid_utf8(block) == std::string::npos);
    BOOST_TEST(!block.empty());
    text += block;
  });
  return text;
}

struct Fixture {
  TempFolder folder;
  Spools spools{folder.path()};

  Document build(const std::string& text, const DocumentBuilder::Limits& limits, size_t piece) {
    DocumentBuilder builder(spools, limits);
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.size(), at + piece);
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      builder.append(std::string_view(text).substr(at, end - at));
      at = end;
    }
    BOOST_TEST(builder.size() == text.size());
    if (limits.wants_content) BOOST_TEST(builder.content() == hash_hex(text));
    return builder.finish();
  }
};

BOOST_FIXTURE_TEST_SUITE(document, Fixture)

BOOST_AUTO_TEST_CASE(a_document_is_the_same_in_memory_and_on_disk) {
  for (const size_t size : {size_t{1}, size_t{1000}, size_t{3} << 20}) {
    const std::string text = text_of_size(size);
    for (const size_t most : {size_t{0}, size_t{100}, size_t{1} << 20, SIZE_MAX}) {
      Document found = build(text, {.most_in_memory = most, .wants_content = true}, 99991);
      BOOST_TEST(found.in_memory() == (text.size() <= most));
      BOOST_TEST(found.size() == text.size());
      BOOST_TEST(found.hash() == hash64(text));
      BOOST_CHECK(read_all(found) == text);
      BOOST_CHECK(found.take_text() == text);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_kept_ends_between_characters_in_memory_and_on_disk) {
  const std::string text = text_of_size(400);
  for (const size_t most_in_memory : {size_t{0}, size_t{50}, SIZE_MAX})
    for (const size_t piece : {1, 7, 1000})
      for (size_t kept = 1; kept < 410; kept += 3) {
        std::string want = text;
        cut_utf8(want, kept);
        Document found = build(
            text, {.most_in_memory = most_in_memory, .most_kept = kept, .wants_content = true},
            piece);
        BOOST_TEST(found.hash() == hash64(want));
        BOOST_TEST(found.take_text() == want);
      }
}

BOOST_AUTO_TEST_CASE(spools_have_no_name_and_are_used_again) {
  const std::string text = text_of_size(100'000);
  std::vector<Document> alive;
  for (int i = 0; i < 100; ++i) {
    alive.push_back(build(text, {.most_in_memory = 10}, 5000));
    if (alive.size() > 2) alive.erase(alive.begin());
  }
  BOOST_TEST(folder.entries() == 0);
  alive.clear();
  const std::shared_ptr<Spool> free = spools.one();
  BOOST_TEST(free->size() == 0);
}

BOOST_AUTO_TEST_CASE(many_spooled_documents_share_a_few_files) {
  std::vector<Document> alive;
  for (int i = 0; i < 2000; ++i) alive.push_back(spools.put(Document(std::to_string(i))));
  for (int i = 0; i < 2000; ++i)
    BOOST_TEST(read_all(alive[static_cast<size_t>(i)]) == std::to_string(i));
}

BOOST_AUTO_TEST_CASE(a_disk_that_is_full_and_a_folder_that_is_not_there_are_named) {
  {
    const FileSizeLimit limit(2000);
    BOOST_CHECK_EXCEPTION(
        build(std::string(5000, 'a'), {.most_in_memory = 10}, 1000), IoError,
        says(folder.path().string() + ": cannot write a temporary file in", "File too large"));
  }
  BOOST_CHECK_EXCEPTION(Spool(folder / "none"), IoError,
                        says("none: cannot make a temporary file in"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
