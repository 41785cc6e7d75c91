#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/make.h"
#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/error.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/data_dir.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_make)
namespace {

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string hello_vocabulary() {
  nlohmann::ordered_json tokens;
  const BpeDefinition d = hello_definition();
  for (size_t id = 0; id < d.tokens.size(); ++id) tokens[bytes_to_characters(d.tokens[id])] = id;
  tokens["<|endoftext|>"] = 300;
  return tokens.dump();
}
const std::string kMerges =
    "#version: 0.2\nh e\nl l\nhe ll\nhell o\n\xC4\xA0 w\no r\nl d\n\xC4\xA0w or\n\xC4\xA0wor ld\n";

BOOST_AUTO_TEST_CASE(a_file_is_told_by_what_is_in_it) {
  const TempFolder folder;
  const auto json = folder.path() / "some.thing";
  put(json, tokenizer_json_text(checked(hello_definition(), "test", "hello")));
  const TokenizerPtr t = make_tokenizer(json.string());
  BOOST_TEST(t->name() == "some");
  BOOST_TEST(ids_of(*t, "hello world") == Ids({259, 264}));

  const auto pair = folder.path() / "pair";
  for (const auto& [vocabulary, merges] :
       {std::pair("vocab.json", "merges.txt"), std::pair("encoder.json", "vocab.bpe")}) {
    put(pair / vocabulary, hello_vocabulary());
    put(pair / merges, kMerges);
    for (const auto& path : {pair, pair / "", pair / vocabulary, pair / merges}) {
      const TokenizerPtr same = make_tokenizer(path.string());
      BOOST_TEST(same->hash() == t->hash());
    }
    BOOST_TEST(make_tokenizer((pair / "").string())->name() == "pair");
    std::filesystem::remove_all(pair);
  }
  std::filesystem::create_directories(pair);
  std::filesystem::rename(json, pair / "tokenizer.json");
  BOOST_TEST(make_tokenizer(pair.string())->hash() == t->hash());
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  const TempFolder folder;
  BOOST_CHECK_EXCEPTION(make_tokenizer((folder.path() / "none").string()), ConfigError,
                        says("expected the name of a tokenizer (bytes", "or the path of one, got",
                             "is no file or folder; of a published tokenizer download"));
  put(folder.path() / "headers.json", "{}");
  BOOST_CHECK_EXCEPTION(make_tokenizer((folder.path() / "headers").string()), ConfigError,
                        says("is no file or folder; did you mean ", "headers.json?"));
  BOOST_CHECK_EXCEPTION(make_tokenizer(folder.path().string()), ConfigError,
                        says("expected tokenizer.json, or vocab.json or encoder.json with"));
  put(folder.path() / "vocab.json", hello_vocabulary());
  BOOST_CHECK_EXCEPTION(make_tokenizer((folder.path() / "vocab.json").string()), ConfigError,
                        says("expected merges.txt or vocab.bpe beside this vocabulary"));
  put(folder.path() / "other" / "m", kMerges);
  BOOST_CHECK_EXCEPTION(make_tokenizer((folder.path() / "other" / "m").string()), ConfigError,
                        says("expected vocab.json or encoder.json beside these merges"));
  put(folder.path() / "odd", std::string(1000, '\xFF'));
  BOOST_CHECK_EXCEPTION(make_tokenizer((folder.path() / "odd").string()), IoError,
                        says("odd: expected a tokenizer.json, vocab.json"));
  put(folder.path() / "empty", "");
  BOOST_CHECK_THROW(make_tokenizer((folder.path() / "empty").string()), IoError);
  put(folder.path() / "ranks", "YQ== 0\n");
  BOOST_CHECK_EXCEPTION(make_tokenizer((folder.path() / "ranks").string()), ConfigError,
                        says("expected --tokenizer-pattern gpt2 or cl100k_base"));
}

BOOST_AUTO_TEST_CASE(tokenizers_of_other_kinds_are_named) {
  const TempFolder folder;
  // A file of SentencePiece begins with its first piece: {"<unk>", 0.0, UNKNOWN}.
  const std::string model("\n\x0E\n\x05<unk>\x15\0\0\0\0\x18\x02\n", 17);
  put(folder.path() / "llama" / "tokenizer.model", model);
  put(folder.path() / "bert" / "vocab.txt", "[PAD]\n[UNK]\n");
  for (const auto& path : {folder.path() / "llama", folder.path() / "llama" / "tokenizer.model"})
    BOOST_CHECK_EXCEPTION(make_tokenizer(path.string()), IoError,
                          says("tokenizer.model: expected byte-level BPE, got a SentencePiece "
                               "tokenizer (Llama 2 kind)"));
  BOOST_CHECK_EXCEPTION(make_tokenizer((folder.path() / "bert").string()), IoError,
                        says("vocab.txt: expected byte-level BPE, got a WordPiece tokenizer"));
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_and_the_files_beside_are_read) {
  const TempFolder folder;
  const std::string mark = "\xEF\xBB\xBF";
  const std::string json = tokenizer_json_text(checked(hello_definition(), "test", "hello"));
  put(folder.path() / "marked.json", mark + json);
  const TokenizerPtr t = make_tokenizer((folder.path() / "marked.json").string());
  BOOST_TEST(t->file() == json);
  const auto pair = folder.path() / "pair";
  put(pair / "vocab.json", mark + hello_vocabulary());
  put(pair / "merges.txt", mark + kMerges);
  BOOST_TEST(make_tokenizer(pair.string())->hash() == t->hash());
  put(pair / "added_tokens.json", R"({"<x>": 301})");
  for (const char* name : {"", "vocab.json", "merges.txt"})
    BOOST_TEST(ids_of(*make_tokenizer((pair / name).string()), "hello<x>") == Ids({259, 301}));
}

BOOST_AUTO_TEST_CASE(numbers_alone_are_a_tokenizer_by_name) {
  const TokenizerPtr ids = make_tokenizer("ids:65");
  BOOST_TEST(ids->name() == "ids:65");
  BOOST_TEST(ids->n_vocab() == 65);
  BOOST_TEST(ids->end_of_document() == Tokenizer::kNone);
  BOOST_TEST(!ids->has_text());
  BOOST_TEST(ids->decode(Ids({0, 64})).empty());
  BOOST_CHECK_THROW(ids->decode(Ids({65})), IoError);
  BOOST_CHECK_THROW(ids_of(*ids, "x"), ConfigError);
  BOOST_TEST(make_tokenizer("ids:65:64")->end_of_document() == 64);
  BOOST_TEST(make_tokenizer("ids:65:64")->hash() != ids->hash());
  for (const char* name : {"ids:", "ids:0", "ids:-1", "ids:x", "ids:65:", "ids:65:65", "ids:65:-1",
                           "ids:065", "ids:4194305", "ids:65:64:1"})
    BOOST_TEST(built_in_tokenizer(name) == nullptr, name);
}

BOOST_AUTO_TEST_CASE(the_files_of_gpt2_are_one_tokenizer) {
  const auto folder = data_file("tokenizer/gpt2");
  if (folder.empty()) return;
  const TokenizerPtr gpt2 = make_tokenizer(folder.string());
  const TempFolder temp;
  put(temp.path() / "any.json", gpt2->file());
  BOOST_TEST(make_tokenizer((temp.path() / "any.json").string())->hash() == gpt2->hash());
  BOOST_TEST(make_tokenizer((folder / "vocab.bpe").string())->hash() == gpt2->hash());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
