#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/convert.h"
#include "data/formats/writers.h"
#include "data/prepare.h"
#include "data/synthetic/synthesize.h"
#include "engine/base/error.h"
#include "tests/support/corpus_files.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/ids_tokenizer.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_convert)
namespace {

using Ids = std::vector<int32_t>;
using boost::test_tools::per_element;

const std::vector<std::string> kOthers = {"megatron", "nanogpt", "llm.c"};

struct Fixture {
  TempFolder folder;
  std::filesystem::path own = folder / "own";

  // A document a line; where there are few, they are cut at the ends of splits.
  void prepare_own(int n_documents) {
    std::string lines;
    for (int i = 0; i < n_documents; ++i)
      lines += concat("{\"text\": \"", std::string(static_cast<size_t>(20 + i * 7 % 50), 'a'), i,
                      "\"}\n");
    put(folder / "text.jsonl", lines);
    PrepareOptions options;
    options.source.inputs = {folder / "text.jsonl"};
    options.output = own;
    options.force = true;
    prepare(options);
  }
  Conversion to(const std::filesystem::path& input, const std::string& format,
                const std::filesystem::path& output, const CorpusOptions& corpus = {},
                bool force = false) {
    return convert({input, corpus, format, output, force});
  }
  void check_same(const Corpus& a, const Corpus& b) {
    for (const std::string_view split : kSplits) {
      BOOST_TEST(tokens_of(a, split) == tokens_of(b, split), per_element());
      if (!a.has_split(split)) continue;
      BOOST_TEST(a.document_begins(split) == b.document_begins(split), per_element());
      BOOST_TEST(a.counts(split).documents == b.counts(split).documents);
      BOOST_TEST(a.counts(split).bytes == b.counts(split).bytes);
    }
    BOOST_TEST(a.split_rule() == b.split_rule());
  }
  bool has_note(const Conversion& made, const std::string& text) {
    for (const std::string& note : made.notes)
      if (note.find(text) != std::string::npos) return true;
    return false;
  }
};

BOOST_FIXTURE_TEST_SUITE(convert_to, Fixture)

// With few documents the text is cut within them: pieces that have no end come back without one.
BOOST_AUTO_TEST_CASE(our_own_corpus_comes_back_the_same_through_every_format) {
  for (const int n_documents : {1, 3, 200}) {
    prepare_own(n_documents);
    const Corpus before = Corpus::open(own);
    for (const std::string& format : kOthers) {
      to(own, format, folder / format, {}, true);
      const Corpus between = Corpus::open(folder / format);
      BOOST_TEST(between.format() == format);
      BOOST_TEST(between.tokenizer().name() == "bytes");
      for (const std::string_view split : kSplits) {
        BOOST_TEST(between.counts(split).documents == before.counts(split).documents);
        BOOST_TEST(between.counts(split).bytes == before.counts(split).bytes);
        // A document that is cut has no end in any of them.
        BOOST_TEST(between.document_begins(split).size() == before.document_begins(split).size());
      }
      to(folder / format, "farfield", folder / "back", {}, true);
      const Corpus after = Corpus::open(folder / "back");
      check_same(before, after);
      BOOST_TEST(after.hash() == before.hash());
      after.verify();
      if (n_documents != 3) continue;  // and from one to the others
      for (const std::string& other : kOthers) {
        to(folder / format, other, folder / "other" / other, {}, true);
        to(folder / "other" / other, "farfield", folder / "back", {}, true);
        BOOST_TEST(Corpus::open(folder / "back").hash() == before.hash());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_pair_has_the_bytes_that_megatron_writes) {
  const auto tokenizer = std::make_shared<IdsTokenizer>(50257, 50256);
  const auto writer = make_writer("megatron", folder / "new" / "x", tokenizer, false);
  writer->append(0, Ids{10, 11, 12});
  writer->end_document(0, false);
  writer->end_document(1, true);
  writer->append(1, Ids{7});
  writer->end_document(1, false);
  writer->commit({});
  BOOST_TEST(read_file(folder / "new" / "x.bin") ==
             bytes_of(std::vector<uint16_t>{10, 11, 12, 50256, 7}));
  BOOST_TEST(read_file(folder / "new" / "x.idx") == megatron_index(8, 2, {3, 1, 1}));
  // The exact bytes of the description are in test_megatron; this is its index again.
  for (const auto& [n_vocab, code, width] : {std::tuple(65499, 8, 2), {65500, 4, 4}}) {
    const auto sized =
        make_writer("megatron", folder / "y.bin", std::make_shared<IdsTokenizer>(n_vocab, 0), true);
    sized->append(0, Ids{1, 2});
    sized->end_document(0, true);
    sized->commit({});
    BOOST_TEST(read_file(folder / "y.idx") ==
               megatron_index(static_cast<uint8_t>(code), width, {3}));
  }
}

BOOST_AUTO_TEST_CASE(shards_are_full_but_for_the_last) {
  const auto tokenizer = std::make_shared<IdsTokenizer>(300, 9);
  const auto writer = make_llmc_writer(folder / "shards", tokenizer, false, /*shard_tokens=*/4);
  for (int i = 0; i < 3; ++i) {
    writer->append(0, Ids{1, 2});
    writer->end_document(0, true);
  }
  writer->append(1, Ids{3});
  writer->end_document(1, true);
  writer->commit({});
  BOOST_TEST(read_file(folder / "shards" / "corpus_train_000001.bin") == llmc_shard({9, 1, 2, 9}));
  BOOST_TEST(read_file(folder / "shards" / "corpus_train_000002.bin") == llmc_shard({1, 2, 9, 1}));
  BOOST_TEST(read_file(folder / "shards" / "corpus_train_000003.bin") == llmc_shard({2}));
  BOOST_TEST(read_file(folder / "shards" / "corpus_val_000001.bin") == llmc_shard({9, 3}));
  CorpusOptions options;
  options.model_tokenizer = tokenizer;
  std::filesystem::remove(folder / "shards" / "meta.json");
  BOOST_TEST(tokens_of(Corpus::open(folder / "shards", options), "train").size() == 9u);
}

// Of documents [1 2 END] [3 4] [] [5 END 6 END].
struct Mixed : Fixture {
  CorpusOptions options;

  Mixed() {
    options.tokenizer = "bytes";
    options.split = "100";
    put(folder / "mixed.idx", megatron_index(8, 2, {3, 2, 0, 4}));
    put(folder / "mixed.bin", bytes_of(std::vector<uint16_t>{1, 2, 256, 3, 4, 5, 256, 6, 256}));
  }
};

BOOST_FIXTURE_TEST_CASE(what_a_format_does_not_hold_is_said, Mixed) {
  const Conversion own_made = to(folder / "mixed", "farfield", own, options);
  BOOST_TEST(has_note(own_made, "1 documents have no end-of-text id behind them: farfield"));
  BOOST_TEST(has_note(own_made, "1 documents without any token are left out"));
  BOOST_TEST(has_note(own_made, "1 end-of-text ids stand within documents"));
  BOOST_TEST(has_note(own_made, "counted by decoding"));
  BOOST_TEST(tokens_of(Corpus::open(own), "train") == (Ids{1, 2, 256, 3, 4, 5, 256, 6, 256}),
             per_element());
  BOOST_TEST(Corpus::open(own).counts("train").bytes == 6);

  const Conversion shards = to(folder / "mixed", "llm.c", folder / "shards", options);
  BOOST_TEST(has_note(shards, "1 documents had no end-of-text id; llm.c has one before each"));
  BOOST_TEST(tokens_of(Corpus::open(folder / "shards"), "train") ==
                 (Ids{256, 1, 2, 256, 3, 4, 256, 256, 5, 256, 6}),
             per_element());

  const Conversion pair = to(folder / "mixed", "megatron", folder / "pair", options);
  BOOST_TEST(has_note(pair, "cut there with the split 4,0,0"));
  BOOST_TEST(read_file(folder / "pair.idx") == read_file(folder / "mixed.idx"));
  BOOST_TEST(read_file(folder / "pair.bin") == read_file(folder / "mixed.bin"));
}

BOOST_AUTO_TEST_CASE(ids_that_do_not_fit_are_refused_and_nothing_is_left) {
  CorpusOptions options;
  options.model_tokenizer = std::make_shared<IdsTokenizer>(100000, 0);
  options.split = "100";
  put(folder / "in" / "big.idx", megatron_index(4, 4, {2}));
  put(folder / "in" / "big.bin", bytes_of(Ids{65536, 0}));
  BOOST_CHECK_EXCEPTION(
      to(folder / "in" / "big", "nanogpt", folder / "out", options), ConfigError,
      says("train.bin: expected ids from 0 to 65535", "u16", "got 65536", "choose another --to"));
  BOOST_TEST(folder.entries() == 1);
  to(folder / "in" / "big", "llm.c", folder / "out", options);
  BOOST_TEST(read_file(folder / "out" / "corpus_train_000001.bin").substr(1024) ==
             bytes_of(Ids{0, 65536}));
}

BOOST_AUTO_TEST_CASE(what_is_there_is_replaced_only_if_asked_to) {
  prepare_own(30);
  for (const std::string& format : kOthers) {
    to(own, format, folder / format);
    BOOST_CHECK_EXCEPTION(to(own, format, folder / format), ConfigError,
                          says((folder / format).string(), "--force replaces it"));
    BOOST_CHECK_NO_THROW(to(own, format, folder / format, {}, true));
  }
  put(folder / "mine" / "letter.txt", "dear");
  BOOST_CHECK_EXCEPTION(to(own, "nanogpt", folder / "mine", {}, true), ConfigError,
                        says("got one with other things in it"));
  BOOST_CHECK_EXCEPTION(to(own, "megatron", folder / "mine", {}, true), ConfigError,
                        says("expected the name that the files .bin and .idx begin with"));
  BOOST_CHECK_EXCEPTION(to(own, "megatrn", folder / "x"), ConfigError,
                        says("--to: expected farfield, megatron, nanogpt or llm.c, got 'megatrn'; "
                             "did you mean 'megatron'?"));
}

BOOST_AUTO_TEST_CASE(a_full_disk_or_a_stop_leaves_what_was_there) {
  prepare_own(200);
  const int before = folder.entries();
  for (const char* format : {"farfield", "megatron", "nanogpt", "llm.c"}) {
    {
      const FileSizeLimit limit(1500);
      BOOST_CHECK_EXCEPTION(to(own, format, folder / "out"), IoError, says("cannot write"));
    }
    BOOST_TEST(folder.entries() == before);
    BOOST_CHECK_THROW(convert({own, {}, format, folder / "out", false},
                              [](const ConvertProgress&) { fail<Error>("test", "stop"); }),
                      Error);
    BOOST_TEST(folder.entries() == before);
  }
}

// A damaged corpus must not come out with a new hash that fits.
BOOST_AUTO_TEST_CASE(damaged_tokens_are_refused_and_nothing_is_written) {
  prepare_own(200);
  const int before = folder.entries();
  for (const std::string_view split : kSplits) {
    const std::filesystem::path file = own / concat(split, ".tokens");
    const std::string good = read_file(file);
    std::string bad = good;
    bad[bad.size() - 4] ^= 1;  // another id of the vocabulary
    put(file, bad);
    for (const std::string& format : writer_names()) {
      BOOST_CHECK_EXCEPTION(to(own, format, folder / "out"), IoError,
                            says(file.string(), ": the tokens do not have the hash"));
      BOOST_TEST(folder.entries() == before);
    }
    put(file, good);
  }
  to(own, "llm.c", folder / "out");
}

BOOST_AUTO_TEST_CASE(damage_of_a_converted_corpus_is_noticed) {
  prepare_own(200);
  for (const std::string& format : kOthers) {
    to(own, format, folder / format);
    const std::filesystem::path file = format == "megatron" ? folder / "megatron.bin"
                                       : format == "nanogpt"
                                           ? folder / "nanogpt/train.bin"
                                           : folder / "llm.c/corpus_train_000001.bin";
    const Corpus sound = Corpus::open(folder / format);
    BOOST_TEST(sound.verify()[0] == sound.recorded_hash("train"));
    std::string bytes = read_file(file);
    bytes[bytes.size() / 4 * 2] ^= 1;
    put(file, bytes);
    BOOST_CHECK_EXCEPTION(to(folder / format, "farfield", folder / "again"), IoError,
                          says(file.string(), ": the tokens do not have the hash"));
    BOOST_TEST(!std::filesystem::exists(folder / "again"));
  }
}

BOOST_AUTO_TEST_CASE(a_record_that_does_not_fit_its_files_is_refused) {
  prepare_own(200);
  to(own, "megatron", folder / "pair");
  to(own, "nanogpt", folder / "nano");
  const auto check = [&](const std::filesystem::path& corpus, const std::filesystem::path& meta,
                         const std::string& from, const std::string& with,
                         const std::string& message) {
    const std::string good = read_file(meta);
    std::string bad = good;
    const size_t at = bad.find(from);
    BOOST_REQUIRE(at != std::string::npos);
    put(meta, bad.replace(at, from.size(), with));
    BOOST_CHECK_EXCEPTION(Corpus::open(corpus), IoError, says(meta.string(), message));
    put(meta, good);
  };
  const auto pair = folder / "pair.meta.json", nano = folder / "nano" / "meta.json";
  check(folder / "pair", pair, "\"documents\": 1", "\"documents\": 2",
        " documents as in the index");
  check(folder / "pair", pair, "\"tokens\": ", "\"tokens\": 1", " tokens in train as in the files");
  check(folder / "nano", nano, "\"tokens\": ", "\"tokens\": 1", " tokens in train as in the files");
  check(folder / "nano", nano, "\"bytes\": ", "\"bytes\": -", "a whole number of at least 0");
  check(folder / "nano", nano, "\"hash\": \"", "\"hash\": \"0", ": expected the tokenizer 'bytes'");
  check(folder / "nano", nano, "\"bytes\"", "\"words\"",
        ": expected a tokenizer that this version");
  check(folder / "nano", nano, "\"dtype\"", "\"d\"", ": expected a proper 'dtype'");
  check(folder / "nano", nano, "\"version\": 1", "\"version\": 2", ": expected version 1, got 2");
  const std::string good = read_file(nano);
  for (size_t size = 0; size + 2 < good.size(); size += 7) {
    put(nano, good.substr(0, size));
    BOOST_CHECK_THROW(Corpus::open(folder / "nano"), IoError);
  }
  CorpusOptions options;
  options.id_type = "u32";
  put(nano, good);
  BOOST_CHECK_EXCEPTION(Corpus::open(folder / "nano", options), ConfigError,
                        says("expected --data-type u16, as its meta.json says, got 'u32'"));
  std::string without = good;  // as an older converter wrote it
  for (size_t at;
       (at = without.find("\"hash\"", without.find("\"splits\""))) < without.find("\"sources\"");)
    without.replace(at, 6, "\"x\"");
  put(nano, without);
  BOOST_TEST(Corpus::open(folder / "nano").recorded_hash("train") == "");
  // Somebody else's file of the name says nothing.
  put(nano, "{\"name\": \"x\"}");
  BOOST_CHECK_EXCEPTION(Corpus::open(folder / "nano"), ConfigError, says("--data-type"));
}

BOOST_AUTO_TEST_CASE(a_split_without_tokens_to_train_on_is_refused) {
  CorpusOptions options;
  options.tokenizer = "bytes";
  options.split = "0,0,1";
  put(folder / "a.idx", megatron_index(8, 2, {2}));
  put(folder / "a.bin", bytes_of(std::vector<uint16_t>{1, 256}));
  BOOST_CHECK_EXCEPTION(to(folder / "a", "nanogpt", folder / "out", options), ConfigError,
                        says("a train split without any", "0,0,1"));
}

BOOST_AUTO_TEST_CASE(that_windows_stay_within_documents_is_kept_or_said_to_be_lost) {
  SyntheticOptions made = synthetic_options("topic");
  made.output = own;
  made.document_tokens = 50;
  made.documents = {3, 2, 2};
  synthesize(made);
  for (const std::string& format : writer_names()) {
    const Conversion result = to(own, format, folder / format);
    const bool is_own = format == "farfield";
    const Corpus corpus = Corpus::open(folder / format);
    BOOST_TEST(corpus.document_tokens() == (is_own ? 50 : 0));
    BOOST_TEST(corpus.floor().has_value() == is_own);
    BOOST_TEST((corpus.hash() == Corpus::open(own).hash()) == is_own);
    const bool is_said = std::any_of(result.notes.begin(), result.notes.end(), [](const auto& n) {
      return n.find("does not record that windows stay within documents") != std::string::npos;
    });
    BOOST_TEST(is_said != is_own);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
