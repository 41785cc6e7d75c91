#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/corpus.h"
#include "data/manifest.h"
#include "data/token_file.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_corpus)  // ctest: arm64
namespace {

struct Fixture {
  TempFolder folder;
  std::filesystem::path path = folder / "corpus";

  void make(int32_t first_id = 1) {
    std::filesystem::create_directories(path);
    Manifest manifest;
    manifest.tokenizer = make_tokenizer("bytes");
    for (size_t i = 0; i < 3; ++i) {
      TokenWriter writer(split_path(path, kSplits[i]), 257);
      const std::vector<int32_t> ids = {first_id, 2, static_cast<int32_t>(i)};
      writer.append(ids);
      writer.count_document(3);
      manifest.splits[i] = {writer.counts(), writer.commit()};
    }
    write_manifest(path, manifest);
  }
  // The manifest with `from` replaced by `to`.
  void change(const std::string& from, const std::string& to) {
    std::string text = read_file(path / "manifest.json");
    const size_t at = text.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    std::ofstream(path / "manifest.json") << text.replace(at, from.size(), to);
  }
  void check_refused(const std::string& file, const std::string& message) {
    const auto named = file.empty() ? path : path / file;
    BOOST_CHECK_EXCEPTION(Corpus::open(path), IoError, says(named.string(), message));
  }
};

BOOST_FIXTURE_TEST_SUITE(corpus, Fixture)

BOOST_AUTO_TEST_CASE(a_corpus_is_read_back) {
  make();
  const Corpus corpus = Corpus::open(path);
  BOOST_TEST(corpus.vocab_size() == 320);
  BOOST_TEST(corpus.tokenizer().name() == "bytes");
  BOOST_TEST(corpus.split("train")[2] == 0);
  BOOST_TEST(corpus.split("valid")[2] == 1);
  BOOST_TEST(corpus.split("test")[2] == 2);
  BOOST_TEST(is_corpus_folder(path));
  BOOST_CHECK_EXCEPTION(
      corpus.split("tset"), ConfigError,
      says("expected the split train, valid or test, got 'tset'; did you mean 'test'?"));
  BOOST_CHECK_EXCEPTION(corpus.split("validation"), ConfigError,
                        says("got 'validation'; did you mean 'valid'?"));
}

BOOST_AUTO_TEST_CASE(the_hash_tells_corpora_apart_by_their_tokens) {
  make();
  const std::string hash = Corpus::open(path).hash();
  make();
  BOOST_TEST(Corpus::open(path).hash() == hash);
  BOOST_TEST(read_file(path / "manifest.json").find(hash) != std::string::npos);
  make(7);
  BOOST_TEST(Corpus::open(path).hash() != hash);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  BOOST_CHECK_EXCEPTION(Corpus::open(folder / "nowhere"), IoError,
                        says("[corpus] ",
                             "/nowhere: expected a corpus, a folder with "
                             "manifest.json, got none; make one with prepare --output"));
  BOOST_TEST(!is_corpus_folder(folder.path()));
  make();
  std::filesystem::remove(split_path(path, "valid"));
  check_refused("valid.tokens", ": cannot open: No such file or directory");
}

BOOST_AUTO_TEST_CASE(parts_of_different_corpora_are_refused) {
  make();
  const std::string valid = read_file(split_path(path, "valid"));
  std::ofstream(split_path(path, "test"), std::ios::binary) << valid;
  check_refused("test.tokens", " of the manifest, got ");
}

BOOST_AUTO_TEST_CASE(a_damaged_manifest_is_refused) {
  const struct {
    std::string from, to, message;
  } cases[] = {
      {"{", "", ": expected JSON in UTF-8, got something else at byte "},
      {"\"version\"", "\"format\": 1, \"version\"", ": expected each key of an object once"},
      {"\"farfield corpus\"", "\"another\"",
       ": expected the format 'farfield corpus', got 'another'"},
      {"\"farfield corpus\"", "1", ": expected a corpus manifest with a proper 'format'"},
      {"\"version\": 1", "\"version\": 2", ": expected version 1, got 2"},
      {"\"version\": 1", "\"version\": \"1\"", " with a proper 'version'"},
      {"\"bytes\"", "\"words\"", ": expected a tokenizer that this version has, got 'words'"},
      {"\"tokenizer\"", "\"x\"", " with a proper 'tokenizer'"},
      {"\"splits\"", "\"x\"", " with a proper 'splits'"},
      {"\"valid\"", "\"x\"", " with a proper 'valid'"},
      {make_tokenizer("bytes")->hash(), std::string(32, '0'), ": expected the tokenizer 'bytes'"},
  };
  for (const auto& c : cases) {
    make();
    change(c.from, c.to);
    check_refused("manifest.json", c.message);
  }
  std::ofstream(path / "manifest.json") << "[]";
  check_refused("manifest.json", ": expected a JSON object, got another value");
  std::ofstream(path / "config.conf") << "steps = 1\n";
  check_refused("manifest.json", ": expected a JSON object, got another value");
  std::filesystem::remove(path / "manifest.json");
  check_refused("", "expected a corpus, got a run of `train`");
  std::filesystem::remove(path / "config.conf");
  std::filesystem::create_symlink("manifest.json", path / "manifest.json");
  BOOST_TEST(!is_corpus_folder(path));
  std::filesystem::remove(path / "manifest.json");
  std::ofstream(path / "manifest.json") << std::string(100'000, '[');
  check_refused("manifest.json", ": expected JSON with at most 32 brackets");
  make();
  change("  \"hash\": \"", "  \"hash\": \"0");
  check_refused("manifest.json", ": expected the hash ");
  make();
  const std::string good = read_file(path / "manifest.json");
  for (size_t size = 0; size + 2 < good.size(); size += 5) {
    std::ofstream(path / "manifest.json") << good.substr(0, size);
    BOOST_CHECK_THROW(Corpus::open(path), IoError);
  }
}

// No hash covers the counts in a token file's header; the manifest has them too.
BOOST_AUTO_TEST_CASE(a_damaged_count_is_noticed_in_either_file) {
  const struct {
    size_t offset;  // in the header, as in corpus.md
    std::string name;
  } cases[] = {{32, "documents"}, {40, "bytes"}};
  for (const auto& c : cases) {
    make();
    const auto file = split_path(path, "valid");
    std::string bytes = read_file(file);
    const int was = bytes[c.offset];
    bytes[c.offset] = static_cast<char>(was ^ 2);
    std::ofstream(file, std::ios::binary) << bytes;
    BOOST_CHECK_NO_THROW(open_token_file(file));
    check_refused("valid.tokens",
                  ": expected " + std::to_string(was) + " " + c.name + " as in " +
                      (path / "manifest.json").string() + ", got " + std::to_string(was ^ 2) +
                      "; one of the two is damaged, make the corpus again with prepare");
    make();
    change("\"" + c.name + "\": " + std::to_string(was), "\"" + c.name + "\": 8");
    check_refused("train.tokens", ": expected 8 " + c.name);
  }
}

BOOST_AUTO_TEST_CASE(only_train_must_have_tokens) {
  const auto empty = [&](std::string_view split) {
    make();
    const Corpus before = Corpus::open(path);
    const std::string hash = TokenWriter(split_path(path, split), 257).commit();
    change(before.recorded_hash(split), hash);
    change(before.hash(), "");
  };
  empty("train");
  check_refused("train.tokens", ": expected tokens, got none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
