#include <boost/test/unit_test.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/tokenizers/make.h"
#include "data/tokenizers/unicode.h"
#include "engine/base/utf8.h"
#include "tests/support/data_dir.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_golden_ids)  // ctest: arm64
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// Each maximal ill-formed subpart as U+FFFD.
std::string replaced(const std::string& text) {
  std::string result = text;
  replace_invalid_utf8(result);
  return result;
}

Ids encoded(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  tokenizer.encode(text, ids);
  return ids;
}

std::vector<json> lines_of(const std::filesystem::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

BOOST_AUTO_TEST_CASE(gpt2_gives_the_published_ids) {
  const auto golden = data_file("tokenizer_golden.jsonl"), gpt2 = data_file("tokenizer/gpt2");
  if (golden.empty() || gpt2.empty()) return;
  const TokenizerPtr special = make_tokenizer(gpt2.string());
  TokenizerOptions options;
  options.special_as_text = true;
  const TokenizerPtr plain = make_tokenizer(gpt2.string(), options);
  BOOST_TEST(special->n_vocab() == 50257);
  BOOST_TEST(special->end_of_document() == 50256);
  BOOST_TEST(special->name() == "gpt2");
  BOOST_TEST(special->hash() == plain->hash());
  size_t n = 0;
  for (const json& line : lines_of(golden)) {
    const std::string text = from_hex(line["hex"]);
    const auto ids = line["ids"].get<Ids>();
    BOOST_TEST_CONTEXT(line["id"]) {
      BOOST_TEST(encoded(*plain, text) == ids);
      BOOST_TEST(plain->decode(ids) == text);
      BOOST_TEST(encoded(*special, text) == line.value("ids_special", ids));
      if (line.contains("ids_replace"))
        BOOST_TEST(encoded(*plain, replaced(text)) == line["ids_replace"].get<Ids>());
    }
    ++n;
  }
  BOOST_TEST(n == 448u);
}

BOOST_AUTO_TEST_CASE(gpt_neox_gives_the_published_ids) {
  const auto golden = data_file("tokenizer_golden_neox.jsonl");
  const auto file = data_file("tokenizer/gpt-neox-20b/20B_tokenizer.json");
  if (golden.empty() || file.empty()) return;
  const TokenizerPtr neox = make_tokenizer(file.string());
  BOOST_TEST(neox->n_vocab() == 50277);
  BOOST_TEST(neox->end_of_document() == 0);
  BOOST_TEST(neox->name() == "20B_tokenizer");
  size_t n = 0;
  for (const json& line : lines_of(golden)) {
    const std::string text = from_hex(line["hex"]);
    const auto ids = line["ids"].get<Ids>();
    BOOST_TEST_CONTEXT(line["id"]) {
      BOOST_TEST(encoded(*neox, text) == ids);
      BOOST_TEST(neox->decode(ids) == nfc(text));
    }
    ++n;
  }
  BOOST_TEST(n == 402u);
}

BOOST_AUTO_TEST_CASE(a_tokenizer_comes_back_from_the_file_that_is_kept) {
  const auto file = data_file("tokenizer/gpt-neox-20b/20B_tokenizer.json");
  if (file.empty()) return;
  const TokenizerPtr neox = make_tokenizer(file.string());
  const TokenizerPtr again = read_tokenizer("again", "kept", neox->file());
  BOOST_TEST(again->hash() == neox->hash());
  BOOST_TEST((again->file() == neox->file()));
  const std::string text = "    return  x  e\xCC\x81 <|padding|>\n";
  BOOST_TEST(encoded(*again, text) == encoded(*neox, text));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
