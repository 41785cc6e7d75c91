#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "data/corpus.h"
#include "data/prepare.h"
#include "engine/base/error.h"
#include "tests/support/data_dir.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/standard_input.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_prepare)
namespace {

namespace fs = std::filesystem;

struct Fixture {
  TempFolder folder;

  PrepareOptions options(const std::string& input) {
    PrepareOptions o;
    o.source.inputs = {folder / input};
    o.output = folder / "out";
    return o;
  }
  void put(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  // n documents of one line each, as JSONL.
  void put_documents(const std::string& name, int n) {
    std::string lines;
    for (int i = 0; i < n; ++i) lines += "{\"text\":\"document " + std::to_string(i) + "\"}\n";
    put(name, lines);
  }
  static std::string text_of(const Tokens& tokens) {
    std::string text;
    for (int64_t i = 0; i < tokens.size(); ++i)
      text += tokens[i] == 256 ? '|' : static_cast<char>(tokens[i]);
    return text;
  }
};

std::map<std::string, std::string> bytes_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
  return files;
}

BOOST_FIXTURE_TEST_SUITE(prepare_suite, Fixture)

BOOST_AUTO_TEST_CASE(few_documents_are_cut_in_order) {
  put("in/a.txt", std::string(100, 'a'));
  put("in/b.txt", std::string(100, 'b'));
  const Manifest manifest = prepare(options("in"));
  const Corpus corpus = Corpus::open(folder / "out");
  BOOST_TEST(text_of(corpus.split("train")) == std::string(100, 'a') + "|" + std::string(80, 'b'));
  BOOST_TEST(text_of(corpus.split("valid")) == std::string(10, 'b'));
  BOOST_TEST(text_of(corpus.split("test")) == std::string(10, 'b') + "|");
  BOOST_TEST(manifest.splits[0].counts.bytes == 180);
  BOOST_TEST(manifest.splits[0].counts.documents == 2);
  BOOST_TEST(manifest.split_rule == "in order, at 90 and 95 percent of the bytes");
}

BOOST_AUTO_TEST_CASE(a_cut_in_order_does_not_cut_a_character) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "\xE4\xB8\xAD";
  put("a.txt", text);  // 150 bytes: 135 is a border, 142.5 is not
  const Manifest manifest = prepare(options("a.txt"));
  for (const auto& split : manifest.splits) BOOST_TEST(split.counts.bytes % 3 == 0);
  BOOST_TEST(manifest.splits[0].counts.bytes == 135);
}

BOOST_AUTO_TEST_CASE(many_documents_are_split_by_their_text_about_90_5_5) {
  put_documents("a.jsonl", 4000);
  const Manifest manifest = prepare(options("a.jsonl"));
  BOOST_TEST(std::abs(manifest.splits[0].counts.documents - 3600) < 95);  // 5 sigma
  BOOST_TEST(std::abs(manifest.splits[1].counts.documents - 200) < 70);
  BOOST_TEST(std::abs(manifest.splits[2].counts.documents - 200) < 70);
}

BOOST_AUTO_TEST_CASE(a_document_stays_in_its_split_when_others_come_and_go) {
  put_documents("a.jsonl", 400);
  prepare(options("a.jsonl"));
  const std::string before = text_of(Corpus::open(folder / "out").split("test"));
  put_documents("a.jsonl", 800);
  PrepareOptions again = options("a.jsonl");
  again.force = true;
  prepare(again);
  const std::string after = text_of(Corpus::open(folder / "out").split("test"));
  BOOST_TEST(after.starts_with(before));
  BOOST_TEST(after.size() > before.size());
}

BOOST_AUTO_TEST_CASE(no_split_is_left_empty_by_chance) {
  for (const int n : {20, 21, 25, 39, 60}) {
    put_documents("a.jsonl", n);
    PrepareOptions o = options("a.jsonl");
    o.force = true;
    const Manifest manifest = prepare(o);
    int64_t documents = 0;
    for (const auto& split : manifest.splits) {
      BOOST_TEST(split.counts.documents > 0);
      documents += split.counts.documents;
    }
    BOOST_TEST(documents == n);
    BOOST_CHECK_NO_THROW(Corpus::open(folder / "out"));
  }
}

BOOST_AUTO_TEST_CASE(the_same_input_gives_the_same_bytes) {
  put_documents("a.jsonl", 300);
  prepare(options("a.jsonl"));
  const auto first = bytes_below(folder / "out");
  PrepareOptions again = options("a.jsonl");
  again.force = true;
  prepare(again);
  BOOST_CHECK(bytes_below(folder / "out") == first);
  BOOST_TEST(first.size() == 4u);
}

BOOST_AUTO_TEST_CASE(too_little_text_is_an_error_that_leaves_nothing) {
  put("empty.txt", "");
  put("short.txt", "x");
  put("empty.jsonl", "{\"text\":\"\"}\n{\"other\":1}\n");
  put("equal.jsonl", [] {
    std::string lines;
    for (int i = 0; i < 30; ++i) lines += "{\"text\":\"the same\"}\n";
    return lines;
  }());
  const int before = folder.entries();
  for (const std::string name : {"empty.txt", "empty.jsonl"})
    BOOST_CHECK_EXCEPTION(
        prepare(options(name)), IoError,
        says("[prepare] expected text, got an empty corpus: no document in ", name));
  for (const std::string name : {"short.txt", "equal.jsonl"})
    BOOST_CHECK_EXCEPTION(
        prepare(options(name)), IoError,
        says("[prepare] expected text for train, valid and test, got none for ", ": of ",
             " bytes the shares 90,5,5 give train ", "; choose other shares with --split"));
  BOOST_TEST(folder.entries() == before);
}

BOOST_AUTO_TEST_CASE(an_empty_corpus_says_what_was_there_instead) {
  put("a.jsonl", "{\"content\":\"some text\",\"id\":1}\n{\"content\":\"more\"}\n");
  BOOST_CHECK_EXCEPTION(prepare(options("a.jsonl")), IoError,
                        says("no document in ",
                             "a.jsonl: 2 objects have no text under 'text'; keys "
                             "seen: 'content', 'id'; try --text-key content"));
  put("in/a", std::string("\0", 1));
  BOOST_CHECK_EXCEPTION(prepare(options("in")), IoError,
                        says("no document in ", "in: 1 file looks binary"));
}

BOOST_AUTO_TEST_CASE(documents_that_are_too_large_to_hold_go_to_disk_and_are_split_as_others) {
  put_documents("many.jsonl", 300);
  put_documents("few.jsonl", 19);
  put("in/a.txt", std::string(100, 'a'));
  put("in/b.txt", std::string(100, 'b'));
  for (const std::string input : {"many.jsonl", "few.jsonl", "in"}) {
    PrepareOptions o = options(input);
    o.force = true;
    prepare(o);
    const auto want = bytes_below(folder / "out");
    for (const size_t held : {0, 20, 120}) {
      o.held_bytes = held;
      o.source.most_in_memory = held == 0 ? 7 : size_t{1} << 20;
      prepare(o);
      BOOST_CHECK_MESSAGE(bytes_below(folder / "out") == want, input << ' ' << held);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_corpus_is_replaced_only_by_force_and_other_folders_never) {
  put("a.txt", std::string(200, 'a'));
  prepare(options("a.txt"));
  const auto before = bytes_below(folder / "out");
  put("a.txt", std::string(200, 'b'));
  PrepareOptions o = options("a.txt");
  BOOST_CHECK_EXCEPTION(prepare(o), ConfigError, says("got one that holds a corpus; --force"));
  BOOST_CHECK(bytes_below(folder / "out") == before);
  o.force = true;
  prepare(o);
  BOOST_CHECK(bytes_below(folder / "out") != before);

  put("home/letter.txt", "dear");
  o.output = folder / "home";
  BOOST_CHECK_EXCEPTION(prepare(o), ConfigError, says("got one with other things in it"));
  BOOST_TEST(read_file(folder / "home/letter.txt") == "dear");
}

BOOST_AUTO_TEST_CASE(a_failure_leaves_the_old_corpus) {
  put_documents("a.jsonl", 50);
  prepare(options("a.jsonl"));
  const auto before = bytes_below(folder / "out");
  PrepareOptions o = options("a.jsonl");
  o.force = true;
  put_documents("a.jsonl", 500);
  {
    const FileSizeLimit limit(2000);
    BOOST_CHECK_EXCEPTION(prepare(o), IoError, says("cannot write: File too large"));
  }
  put("a.jsonl", read_file(folder / "a.jsonl") + "{\"text\":");
  BOOST_CHECK_EXCEPTION(prepare(o), IoError, says("line 501"));
  BOOST_CHECK(bytes_below(folder / "out") == before);
  BOOST_TEST(folder.entries() == 2);
}

BOOST_AUTO_TEST_CASE(shares_can_be_said_and_the_usual_ones_change_nothing) {
  put_documents("a.jsonl", 4000);
  put("b.txt", std::string(1000, 'b'));
  prepare(options("a.jsonl"));
  const auto usual = bytes_below(folder / "out");
  PrepareOptions o = options("a.jsonl");
  o.force = true;
  for (const std::array<int64_t, 3> same :
       {std::array<int64_t, 3>{90, 5, 5}, {18, 1, 1}, {900, 50, 50}}) {
    o.shares = same;
    prepare(o);
    BOOST_CHECK(bytes_below(folder / "out") == usual);
  }
  o.shares = {70, 20, 10};
  Manifest manifest = prepare(o);
  BOOST_TEST(std::abs(manifest.splits[0].counts.documents - 2800) < 145);  // 5 sigma
  BOOST_TEST(std::abs(manifest.splits[1].counts.documents - 800) < 127);
  BOOST_TEST(manifest.split_rule == "7 : 2 : 1, by a hash of each document's text");
  BOOST_TEST(read_file(folder / "out/manifest.json").find("\"split\": \"70,20,10\"") !=
             std::string::npos);
  o.source.inputs = {folder / "b.txt"};
  manifest = prepare(o);
  BOOST_TEST(manifest.splits[0].counts.bytes == 700);
  BOOST_TEST(manifest.splits[1].counts.bytes == 200);
  BOOST_TEST(manifest.split_rule == "7 : 2 : 1, in order of the bytes");
  put_documents("a.jsonl", 50);
  o.source.inputs = {folder / "a.jsonl"};
  o.shares = {1'000'000, 1, 1};
  manifest = prepare(o);
  for (const size_t i : {1, 2}) BOOST_TEST(manifest.splits[i].counts.documents == 1);
  for (const std::array<int64_t, 3> bad :
       {std::array<int64_t, 3>{0, 1, 1}, {1, 0, 1}, {1, 1, -1}, {INT64_MAX, 1, 1}}) {
    o.shares = bad;
    BOOST_CHECK_EXCEPTION(prepare(o), ConfigError, says("--split: expected three shares"));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_split_is_named_with_documents_and_shares) {
  put("a.txt", std::string(300, 'a'));
  PrepareOptions o = options("a.txt");
  o.shares = {1, 1, 998};
  BOOST_CHECK_EXCEPTION(
      prepare(o), IoError,
      says(
          "got none for train and valid: of 1 document and 300 bytes the shares 1,1,998 give train "
          "0 (0 bytes), valid 0 (0 bytes), test 1 (300 bytes); choose other shares"));
}

struct Given : Fixture {
  PrepareOptions given() {
    PrepareOptions o;
    o.given = {{{folder / "train.jsonl"}, {folder / "valid.txt"}, {folder / "in"}}};
    o.output = folder / "out";
    o.force = true;
    return o;
  }
  Given() {
    put_documents("train.jsonl", 30);
    put("valid.txt", "document 3");
    put("in/a", "a");
    put("in/b", "document 3");
  }
};

BOOST_FIXTURE_TEST_CASE(splits_that_are_given_stay_as_they_are, Given) {
  const Manifest manifest = prepare(given());
  const Corpus corpus = Corpus::open(folder / "out");
  BOOST_TEST(manifest.splits[0].counts.documents == 30);
  BOOST_TEST(text_of(corpus.split("train")).starts_with("document 0|document 1|"));
  BOOST_TEST(text_of(corpus.split("valid")) == "document 3|");
  BOOST_TEST(text_of(corpus.split("test")) == "a|document 3|");
  BOOST_TEST(corpus.split_rule() == "as given by --train-input, --valid-input and --test-input");
  BOOST_TEST_REQUIRE(manifest.notes.size() == 2u);
  BOOST_TEST(manifest.notes[1] ==
             "1 of 2 documents of test stand in train too; --dedupe leaves them out");
  const std::string text = read_file(folder / "out/manifest.json");
  for (const std::string key : {"train_input", "valid_input", "test_input"})
    BOOST_TEST(text.find("\"" + key + "\"") != std::string::npos, key);
}

BOOST_FIXTURE_TEST_CASE(given_splits_have_the_limit_each_and_duplicates_together, Given) {
  PrepareOptions o = given();
  o.source.max_bytes = 4;
  Manifest manifest = prepare(o);
  for (const auto& split : manifest.splits) BOOST_TEST(split.counts.bytes == 4);
  o = given();
  o.source.drop_duplicates = true;  // leaves valid without text
  BOOST_CHECK_EXCEPTION(prepare(o), IoError,
                        says("got none for valid: documents of train 30 (", "; name other inputs"));
  put("other.txt", "other");
  o.given[1] = {folder / "in"};
  o.given[2] = {folder / "other.txt"};
  manifest = prepare(o);
  BOOST_TEST(manifest.skipped.duplicates == 1);
}

BOOST_FIXTURE_TEST_CASE(words_are_learned_from_the_train_split_that_is_given, Given) {
  PrepareOptions o = given();
  o.tokenizer = "words";
  prepare(o);
  const std::string words = read_file(folder / "out/tokenizer.json");
  BOOST_TEST(words.find("\"document\"") != std::string::npos);
  BOOST_TEST(words.find("\"a\"") == std::string::npos);  // of test alone
}

BOOST_FIXTURE_TEST_CASE(given_splits_are_all_three_and_alone, Given) {
  PrepareOptions o = given();
  o.source.inputs = {folder / "in"};
  BOOST_CHECK_EXCEPTION(prepare(o), ConfigError, says("expected either --input or"));
  o = given();
  o.shares = {8, 1, 1};
  BOOST_CHECK_EXCEPTION(prepare(o), ConfigError, says("--split: expected no shares beside"));
  o = given();
  o.given[1].clear();
  BOOST_CHECK_EXCEPTION(prepare(o), ConfigError, says("--valid-input: expected the text of each"));
}

BOOST_AUTO_TEST_CASE(a_corpus_within_the_input_changes_nothing_the_second_time) {
  for (int i = 0; i < 30; ++i) put("in/" + std::to_string(i), "text " + std::to_string(i));
  PrepareOptions o = options("in");
  o.output = folder / "in/corpus";
  o.force = true;
  const std::string first = prepare(o).hash();
  BOOST_TEST(prepare(o).hash() == first);
  o.source.inputs = {folder / "in/corpus/train.tokens"};
  BOOST_CHECK_EXCEPTION(prepare(o), ConfigError,
                        says("expected text outside of the folder that --force replaces"));
}

BOOST_AUTO_TEST_CASE(standard_input_gives_the_corpus_of_the_file) {
  for (const int n : {5, 30, 1000}) {  // in order, by rank, by hash
    put_documents("a.jsonl", n);
    PrepareOptions o = options("a.jsonl");
    o.force = true;
    const std::string want = prepare(o).hash();
    const StandardInput input(read_file(folder / "a.jsonl"));
    o.source.inputs = {"-"};
    o.held_bytes = 10;
    BOOST_TEST(prepare(o).hash() == want);
  }
}

BOOST_AUTO_TEST_CASE(a_stop_while_text_is_put_aside_leaves_nothing) {
  put("a.txt", std::string(3 << 20, 'a'));
  PrepareOptions o = options("a.txt");
  o.source.most_in_memory = 1000;
  const int before = folder.entries();
  struct Stop {};
  BOOST_CHECK_THROW(prepare(o, [](const PrepareProgress&) { throw Stop(); }), Stop);
  BOOST_TEST(folder.entries() == before);
  const Manifest manifest = prepare(o);
  BOOST_TEST(manifest.splits[0].counts.bytes == (3 << 20) * 9 / 10);
  BOOST_TEST(folder.entries() == before + 1);
}

BOOST_AUTO_TEST_CASE(what_was_asked_of_a_tokenizer_is_in_the_manifest_only_where_it_was_asked) {
  put("a.txt", std::string(200, 'a'));
  prepare(options("a.txt"));
  std::string manifest = read_file(folder / "out/manifest.json");
  for (const std::string key : {"special_as_text", "end_of_text", "tokenizer_pattern", "subset",
                                "input_format", "\"split\""})
    BOOST_TEST(manifest.find(key) == std::string::npos, key);
  PrepareOptions o = options("a.txt");
  o.force = true;
  o.tokenizer_options.special_as_text = true;
  o.source.format = InputFormat::text;
  prepare(o);
  manifest = read_file(folder / "out/manifest.json");
  for (const std::string line : {"\"special_as_text\": \"true\"", "\"input_format\": \"text\""})
    BOOST_TEST(manifest.find(line) != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(progress_ends_with_the_whole_input) {
  put_documents("a.jsonl", 100);
  PrepareProgress last;
  prepare(options("a.jsonl"), [&](const PrepareProgress& p) { last = p; });
  BOOST_TEST(last.bytes_read == last.bytes_total);
  BOOST_TEST(last.bytes_total == static_cast<int64_t>(fs::file_size(folder / "a.jsonl")));
  BOOST_TEST(last.bytes_done == last.bytes_total);
  BOOST_TEST(last.documents == 100);
}

BOOST_AUTO_TEST_CASE(the_manifest_says_where_the_text_came_from_and_what_was_left_out) {
  put("a.jsonl", "{\"text\":\"" + std::string(100, 'x') + "\\ud800\"}\n{\"text\":\"\"}\n");
  prepare(options("a.jsonl"));
  const std::string manifest = read_file(folder / "out/manifest.json");
  for (const std::string part :
       {"\"format\": \"farfield corpus\"", "\"name\": \"bytes\"", "\"n_vocab\": 257",
        "\"end_of_document\": 256", "\"vocab_size\": 320", "a.jsonl\"", "\"size_bytes\": 130",
        "\"empty_documents\": 1", "\"lone_surrogates\": 1", "\"text_key\": \"text\""})
    BOOST_TEST(manifest.find(part) != std::string::npos, part << " is not in " << manifest);
  BOOST_TEST(manifest.find(hash_hex(read_file(folder / "a.jsonl"))) != std::string::npos);
}

// Documents and bytes as the README of the data counts them.
BOOST_AUTO_TEST_CASE(real_corpora_have_their_known_sizes) {
  const struct {
    const char* name;
    int64_t documents, bytes;
  } cases[] = {{"latex/train.jsonl.zst", 979, 28799847},
               {"latex/valid.jsonl.zst", 58, 1889009},
               {"code/valid.jsonl.zst", 150, 1836390},
               {"code/train.jsonl.zst", 2982, 29241342},
               {"prose/test.jsonl.zst", 136, 2022123}};
  for (const auto& c : cases) {
    const fs::path input = data_file(c.name);
    if (input.empty()) continue;
    PrepareOptions o = options("");
    o.source.inputs = {input};
    o.source.jsonl.is_strict = true;
    o.force = true;
    const Manifest manifest = prepare(o);
    int64_t documents = 0, bytes = 0, tokens = 0;
    for (const auto& split : manifest.splits) {
      documents += split.counts.documents;
      bytes += split.counts.bytes;
      tokens += split.counts.tokens;
    }
    BOOST_TEST(documents == c.documents);
    BOOST_TEST(bytes == c.bytes);
    BOOST_TEST(tokens == c.bytes + c.documents);
    for (const auto& [name, count] : named_counts(manifest.skipped)) BOOST_TEST(count == 0, name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
