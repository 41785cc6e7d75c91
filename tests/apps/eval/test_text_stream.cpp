#include <boost/test/unit_test.hpp>
#include <set>

#include "apps/eval/text_stream.h"
#include "data/prepare.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_text_stream)

using namespace farfield;
using namespace farfield::eval;

namespace {

// Of many short documents, one per line of JSON.
struct ManyDocuments {
  TempFolder folder;
  data::Corpus corpus;

  ManyDocuments() : corpus(make(folder)) {}
  static data::Corpus make(const TempFolder& folder) {
    std::string lines;
    for (int i = 0; i < 400; ++i)
      lines += concat(R"({"text": "document number )", i, std::string(i % 7, '!'), "\"}\n");
    write_file_atomic(folder / "text.jsonl", lines);
    data::PrepareOptions prepare;
    prepare.source.inputs = {folder / "text.jsonl"};
    prepare.output = folder / "corpus";
    data::prepare(prepare);
    return data::Corpus::open(prepare.output);
  }
};

std::vector<int32_t> all(const TokenStream& text) {
  std::vector<int32_t> ids(static_cast<size_t>(text.size));
  text.copy(0, text.size, ids.data());
  return ids;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_seed_decides_which_text_comes_first) {
  const ManyDocuments many;
  std::set<std::string> ids, texts;
  std::set<int64_t> sizes;
  for (const std::optional<uint64_t> seed : {std::optional<uint64_t>(), {0}, {1}, {2}}) {
    const TokenStream text = stream_of_split(many.corpus, "test", seed);
    ids.insert(text.id);
    texts.insert(text.decode(all(text)));
    sizes.insert(text.size);
    const TokenStream again = stream_of_split(many.corpus, "test", seed);
    BOOST_TEST(again.id == text.id);
    BOOST_TEST(all(again) == all(text), boost::test_tools::per_element());
  }
  BOOST_TEST(ids.size() == 4u);
  BOOST_TEST(texts.size() == 4u);
  BOOST_TEST(sizes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(places_lead_to_the_tokens_of_the_file_in_either_order) {
  const ManyDocuments many;
  const TokenStream file = stream_of_split(many.corpus, "test");
  const std::vector<int32_t> in_file = all(file);
  for (const TokenStream& text : {file, stream_of_split(many.corpus, "test", 5)}) {
    const std::vector<int32_t> ids = all(text);
    for (int64_t i = 0; i < text.size; ++i)
      BOOST_TEST_REQUIRE(ids[static_cast<size_t>(i)] ==
                         in_file[static_cast<size_t>(text.place(i))]);
  }
}

BOOST_AUTO_TEST_CASE(bytes_are_those_of_the_text_in_any_range) {
  const ManyDocuments many;
  const TokenStream text = stream_of_split(many.corpus, "test", 5);
  const std::vector<int32_t> ids = all(text);
  for (const auto& [begin, n] : std::vector<std::pair<int64_t, int64_t>>{
           {0, text.size}, {0, 0}, {3, 1}, {17, 100}, {text.size - 1, 1}}) {
    const std::span<const int32_t> range(ids.data() + begin, static_cast<size_t>(n));
    BOOST_TEST(text.count_bytes(begin, n) == static_cast<int64_t>(text.decode(range).size()));
  }
  BOOST_TEST(text.count_bytes(0, text.size) == many.corpus.counts("test").bytes);
}

BOOST_AUTO_TEST_CASE(numbers_without_a_tokenizer_have_neither_text_nor_bytes) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "nano");
  write_file_atomic(folder / "nano" / "train.bin", std::string(64, '\0'));
  write_file_atomic(folder / "nano" / "val.bin", std::string(64, '\0'));
  data::CorpusOptions options;
  options.id_type = "u16";
  options.vocab_size = 65;
  const TokenStream text =
      stream_of_split(data::Corpus::open(folder / "nano", options), "valid", 1);
  BOOST_TEST(text.size == 32);
  BOOST_TEST(!text.decode);
  TokenSet tokens;
  tokens.add(0, 8);
  BOOST_TEST(tokens.bytes_per_token(text) == 0.0);  // not known
}

BOOST_AUTO_TEST_SUITE_END()
