// The tokenizers of model families as Hugging Face's tokenizers has them:
// tests/golden/tokenizers.json.
#include <boost/test/unit_test.hpp>

#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/utf8.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/golden.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_families)
namespace {

using nlohmann::json;

// The vocabulary's entries: a token's id is its place.
json entries_of(const json& tokens) {
  json entries = json::object();
  for (const json& token : tokens) entries[token.get<std::string>()] = entries.size();
  return entries;
}

json tokens_of(const std::string& vocabulary) {
  const json& all = test::golden("tokenizers.json").at("vocabularies");
  if (vocabulary != "characters_alone") return all.at(vocabulary).at("tokens");
  json tokens = json::array();
  for (const json& token : all.at("characters").at("tokens"))
    if (!token.get<std::string>().starts_with("<0x")) tokens.push_back(token);
  return tokens;
}

// The tokenizer.json of a family.
std::string file_of(const json& family) {
  const auto vocabulary = family.at("vocabulary").get<std::string>();
  json file = {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}};
  for (const char* part :
       {"added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model"})
    file[part] = family.at(part);
  if (file["model"].is_null()) file["model"] = json::object();
  file["model"]["type"] = "BPE";
  file["model"]["vocab"] = entries_of(tokens_of(vocabulary));
  file["model"]["merges"] = test::golden("tokenizers.json")
                                .at("vocabularies")
                                .at(vocabulary == "bytes" ? "bytes" : "characters")
                                .at("merges");
  return file.dump();
}

// f(family, tokenizer), for the tokenizer of the file and the one of the file that is kept.
template <class F>
void for_each_family(const F& f) {
  for (const json& family : test::golden("tokenizers.json").at("tokenizers"))
    BOOST_TEST_CONTEXT(family.at("name").get<std::string>()) {
      TokenizerOptions options;
      options.end_of_text = family.at("added_tokens").at(0).at("content").get<std::string>();
      const BpeTokenizer read("t", read_tokenizer_json("t.json", file_of(family)), options);
      const BpeTokenizer kept("t", read_tokenizer_json("kept", read.file()), options);
      BOOST_TEST((kept.file() == read.file()));
      f(family, read);
      f(family, kept);
    }
}

std::vector<std::string> texts() {
  return test::golden("tokenizers.json").at("texts").get<std::vector<std::string>>();
}

BOOST_AUTO_TEST_CASE(ids_are_those_of_the_library) {
  for_each_family([](const json& family, const Tokenizer& t) {
    const Ids begin(t.begin_of_text().begin(), t.begin_of_text().end());
    BOOST_TEST(begin == family.at("begin").get<Ids>());
    const std::vector<std::string> all = texts();
    BOOST_TEST(all.size() == family.at("ids").size());
    for (size_t i = 0; i < all.size(); ++i)
      BOOST_TEST(ids_of(t, all[i]) == family.at("ids")[i].get<Ids>(), "text " << i);
  });
}

BOOST_AUTO_TEST_CASE(ids_decode_to_the_text_of_the_library) {
  for_each_family([](const json& family, const Tokenizer& t) {
    const std::vector<std::string> all = texts();
    for (size_t i = 0; i < all.size(); ++i) {
      std::string text = t.decode(ids_of(t, all[i]));
      replace_invalid_utf8(text);
      BOOST_TEST(text == family.at("decoded").value(std::to_string(i), all[i]), "text " << i);
    }
  });
}

BOOST_AUTO_TEST_CASE(text_within_another_differs_by_the_blank_in_front_alone) {
  for_each_family([](const json&, const Tokenizer& t) {
    const Ids ids = ids_of(t, "the encoding"), first = {ids.begin(), ids.begin() + 1},
              others = {ids.begin() + 1, ids.end()};
    BOOST_TEST(t.decode(ids) == "the encoding");
    BOOST_TEST(t.decode(first) + t.decode_within(others) == "the encoding");
    const std::string within = t.decode_within(ids);
    BOOST_TEST(within.substr(within.starts_with(' ') ? 1 : 0) == "the encoding");
  });
}

BOOST_AUTO_TEST_CASE(a_text_that_is_cut_where_it_may_be_has_the_same_ids) {
  size_t n_families = 0;
  for_each_family([&](const json&, const Tokenizer& t) {
    size_t n_cuts = 0;
    for (const std::string& text : texts()) {
      const Ids whole = ids_of(t, text);
      for (size_t at = t.cut(text, 0); at < text.size(); at = t.cut(text, at + 1), ++n_cuts) {
        Ids parts = ids_of(t, text.substr(0, at));
        t.encode(text.substr(at), parts);
        BOOST_TEST(parts == whole, "cut at " << at << ": " << text);
      }
    }
    n_families += n_cuts > 20;
  });
  // All but those that put a blank in front of every part, or the one whose unknown characters may
  // lie on both sides: of each the tokenizer of the file and of the one that is kept.
  BOOST_TEST(n_families == 20u);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
