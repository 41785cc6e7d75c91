#include <boost/test/unit_test.hpp>

#include "data/tokenizers/words.h"
#include "data/tokenizers/words_json.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/data_dir.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_words)
namespace {

using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

WordsTokenizer learn(std::string_view text, int64_t vocab_size = 0,
                     const TokenizerOptions& options = {}) {
  PieceCounter counter(words_pieces());
  counter.add(text, true);
  return WordsTokenizer("words", learn_words(counter.finish(), vocab_size), options);
}
Ids encode(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  tokenizer.encode(text, ids);
  return ids;
}

BOOST_AUTO_TEST_CASE(ids_fall_with_the_number_of_words) {
  const WordsTokenizer words = learn("b a c\nc b\tc z <unk> </s> d");
  BOOST_TEST(words.words() == Words({"<s>", "<pad>", "</s>", "<unk>", "c", "b", "a", "d", "z"}),
             boost::test_tools::per_element());
  BOOST_TEST(words.n_vocab() == 9);
  BOOST_TEST(words.end_of_document() == 0);
  BOOST_TEST(learn("b a c c b", 5).words().back() == "b");
}

BOOST_AUTO_TEST_CASE(a_line_end_is_a_token_and_an_unknown_word_is_unk) {
  const WordsTokenizer words = learn("b a c\nc b\tc");
  BOOST_TEST(encode(words, " c\n\nb what <unk> a") == Ids({4, 2, 2, 5, 3, 3, 6}),
             boost::test_tools::per_element());
  BOOST_TEST(words.decode(Ids{4, 2, 2, 5, 3, 0, 1}) == "c \n\nb <unk> ");
  BOOST_TEST(encode(words, "").empty());
}

BOOST_AUTO_TEST_CASE(all_white_space_of_unicode_splits) {
  // No-break space, next line, ideographic space; not the separator U+001C.
  const WordsTokenizer words = learn("a b\x1C c");
  BOOST_TEST(encode(words,
                    "a\xC2\xA0"
                    "a\xC2\x85"
                    "a\xE3\x80\x80"
                    "a\r\na\fb\x1C") == Ids({4, 4, 4, 4, 2, 4, 5}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(special_words_of_strangers_are_unknown) {
  BOOST_TEST(encode(learn("a"), "<s> <pad> </s> <unk> a") == Ids({0, 1, 2, 3, 4}),
             boost::test_tools::per_element());
  TokenizerOptions options;
  options.special_as_text = true;
  BOOST_TEST(encode(learn("a", 0, options), "<s> <pad> </s> <unk> a\n") == Ids({3, 3, 3, 3, 4, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_text_can_be_cut_behind_white_space) {
  const std::string text = "one two\xE3\x80\x80three\n four";
  const WordsTokenizer words = learn(text);
  const Ids whole = encode(words, text);
  for (size_t from = 0; from <= text.size(); ++from) {
    const size_t at = words.cut(text, from);
    BOOST_TEST(at >= from);
    Ids ids = encode(words, std::string_view(text).substr(0, at));
    words.encode(std::string_view(text).substr(at), ids);
    BOOST_TEST(ids == whole, boost::test_tools::per_element());
  }
  BOOST_TEST(words.cut(text, 1) == 4u);
  BOOST_TEST(words.cut(text, 18) == text.size());
}

BOOST_AUTO_TEST_CASE(its_file_reads_back) {
  const WordsTokenizer words = learn("a \"b\" \\ \xC3\xA9 \x01 a");
  const TokenizerPtr again = read_tokenizer("words", "tokenizer.json", words.file());
  BOOST_TEST(again->file() == words.file());
  BOOST_TEST(again->hash() == words.hash());
  const TempFolder folder;
  write_file_atomic(folder / "w.json", words.file());
  BOOST_TEST(make_tokenizer((folder / "w.json").string())->hash() == words.hash());
}

BOOST_AUTO_TEST_CASE(files_that_ask_for_something_else_are_refused) {
  const std::string text = words_json_text({"<s>", "<pad>", "</s>", "<unk>", "a"});
  const auto refused = [&](std::string_view from, std::string_view to, const std::string& message) {
    std::string changed = text;
    const size_t at = changed.find(from);
    BOOST_REQUIRE(at != changed.npos);
    changed.replace(at, from.size(), to);
    BOOST_CHECK_EXCEPTION(read_words_json("w.json", changed), IoError,
                          says("[tokenizer] w.json: ", message));
  };
  BOOST_TEST(read_words_json("w.json", text).size() == 5u);
  refused("WhitespaceSplit", "Whitespace", "got \"Whitespace\", which is not implemented");
  refused("\" </s> \"", "\"\"", "got \"\", which is not implemented");
  refused("\"Replace\"", "\"NFC\"", "got \"NFC\", which is not implemented");
  refused("\"unk_token\": \"<unk>\"", "\"unk_token\": \"a\"", "got \"a\"");
  refused("\"added_tokens\": []", "\"added_tokens\": [1]", "expected no added_tokens");
  refused("\"post_processor\": null", "\"post_processor\": {}", "expected no post_processor");
  refused("\"a\": 4", "\"a\": 3", "expected each id once, got 3");
  refused("\"a\": 4", "\"a\": 5", "expected ids from 0 to 4, got 5");
  refused("\"a\": 4", "\"a\": -1", "got -1");
  refused("\"a\"", "\"a b\"", "expected words without white space, got 'a b'");
  refused("\"a\"", "\"\"", "expected words without white space, got ''");
  refused("\"<s>\": 0", "\"<t>\": 0", "expected <s> to have the id 0, got '<t>' there");
  refused("\"a\": 4", "\"a\": \"4\"", "got string for 'a'");
}

BOOST_AUTO_TEST_CASE(wikitext_103_has_the_known_number_of_tokens) {
  const std::pair<const char*, size_t> known[] = {{"wikitext-103/wiki.valid.tokens", 217646},
                                                  {"wikitext-103/wiki.test.tokens", 245569}};
  for (const auto& [name, n_tokens] : known) {
    const std::filesystem::path path = data_file(name);
    if (path.empty()) continue;
    const std::string text = read_file(path);
    const WordsTokenizer words = learn(text);
    const Ids ids = encode(words, text);
    BOOST_TEST(ids.size() == n_tokens);
    BOOST_TEST(encode(words, words.decode(ids)) == ids, boost::test_tools::per_element());
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
