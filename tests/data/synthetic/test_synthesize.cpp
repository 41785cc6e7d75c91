#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "data/corpus.h"
#include "data/loader.h"
#include "data/synthetic/synthesize.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_synthesize)
namespace {

SyntheticOptions small(const std::filesystem::path& output, const std::string& task = "topic") {
  SyntheticOptions options = synthetic_options(task);
  options.output = output;
  options.document_tokens = 200;
  options.documents = {6, 3, 4};
  return options;
}

std::string text_of(const Corpus& corpus, const std::string& split, int64_t document, int64_t n) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  corpus.split(split).copy(document * (corpus.document_tokens() + 1), n, ids.data());
  return corpus.tokenizer().decode(ids);
}

BOOST_AUTO_TEST_CASE(the_usual_corpus_of_a_seed_begins_as_it_always_did) {
  const TempFolder folder;
  const struct {
    std::string task, train, test, hash;
  } cases[] = {{"topic", "UmNyeyATMyNqZyTyeefT6kCfWfG2eyyTrAM+AdrV8TzCyvygyANry2NqrySRfY3T",
                "ZhB1pBQB+2BQV825wlpp1KZg2B4lXQBBwiCTAJQXAjBwbB2h5i-bQ1211pmlWX75",
                "158d4641e67c85ce8e3a7cb5a432da2b"},
               {"induction", "UmNyeyATMyNqZyTyffjJNWs25yOAeAIVGzYvf1CrNNTMffyTefluNqzTMyNqZyTy",
                "ZhB1pBQB+2BQV825TpXKW2cl-BBiBA2BQV825TpXKW2cl-BAJwo25iBQV825TpXK",
                "ea8bc0b410ec7bd7a8dd2d2182c36541"}};
  for (const auto& c : cases) {
    SyntheticOptions options = synthetic_options(c.task);
    options.output = folder / c.task;
    options.documents = {2, 1, 1};
    synthesize(options);
    const Corpus corpus = Corpus::open(options.output);
    BOOST_TEST(text_of(corpus, "train", 1, 64) == c.train);
    BOOST_TEST(text_of(corpus, "test", 0, 64) == c.test);
    BOOST_TEST(corpus.hash() == c.hash);
  }
}

BOOST_AUTO_TEST_CASE(a_corpus_is_opened_with_its_documents_and_its_floor) {
  const TempFolder folder;
  for (const std::string task : {"topic", "induction"}) {
    const Manifest made = synthesize(small(folder / task, task));
    const Corpus corpus = Corpus::open(folder / task);
    corpus.verify();
    BOOST_TEST(corpus.hash() == made.hash());
    BOOST_TEST(corpus.document_tokens() == 200);
    BOOST_TEST(*corpus.floor() == *made.floor);
    BOOST_TEST(*made.floor > 1);
    BOOST_TEST(*made.floor < std::log(64));
    BOOST_TEST(corpus.counts("train").documents == 6);
    BOOST_TEST(corpus.counts("test").bytes == 800);
    BOOST_TEST(corpus.document_begins("valid") == (std::vector<int64_t>{0, 201, 402, 603}),
               boost::test_tools::per_element());
    for (const std::string split : {"train", "valid", "test"})
      for (const char c : text_of(corpus, split, 2, 200))
        BOOST_TEST(symbol_characters().substr(0, 64).find(c) != std::string_view::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_document_depends_on_seed_split_and_number_alone) {
  const TempFolder folder;
  synthesize(small(folder / "a"));
  SyntheticOptions more = small(folder / "b");
  more.documents = {9, 1, 8};
  const int threads = thread_count();
  set_thread_count(3);
  synthesize(more);
  set_thread_count(threads);
  SyntheticOptions other = small(folder / "c");
  other.topic.seed = 1;
  synthesize(other);
  const Corpus a = Corpus::open(folder / "a"), b = Corpus::open(folder / "b"),
               c = Corpus::open(folder / "c");
  for (int64_t i = 0; i < 4; ++i) {
    BOOST_TEST(text_of(a, "train", i, 200) == text_of(b, "train", i, 200));
    BOOST_TEST(text_of(a, "test", i, 200) == text_of(b, "test", i, 200));
    BOOST_TEST(text_of(a, "test", i, 200) != text_of(a, "train", i, 200));
    BOOST_TEST(text_of(a, "train", i, 200) != text_of(c, "train", i, 200));
  }
  BOOST_TEST(text_of(a, "train", 0, 200) != text_of(a, "train", 1, 200));
}

BOOST_AUTO_TEST_CASE(the_hash_covers_that_windows_stay_within_documents) {
  const TempFolder folder;
  synthesize(small(folder / "a"));
  Manifest manifest;
  manifest.tokenizer = Corpus::open(folder / "a").shared_tokenizer();
  const std::string joined = manifest.hash();
  manifest.document_tokens = 200;
  const std::string within = manifest.hash();
  manifest.document_tokens = 100;
  BOOST_TEST(within != joined);
  BOOST_TEST(within != manifest.hash());
}

BOOST_AUTO_TEST_CASE(training_windows_stay_within_documents_and_all_are_read) {
  const TempFolder folder;
  synthesize(small(folder / "a"));
  const Corpus corpus = Corpus::open(folder / "a");
  for (const int64_t length : {7, 64, 199}) {
    const auto windows = std::make_shared<ShuffledWindows>(corpus.split("train"), length, 5,
                                                           corpus.document_tokens());
    const int64_t n = 6 * (199 / length);
    BOOST_TEST(windows->per_epoch() == n);
    std::vector<int64_t> begins;
    std::vector<int32_t> ids(static_cast<size_t>(length + 1));
    for (int64_t i = 0; i < n; ++i) {
      windows->copy(i, ids.data());
      BOOST_TEST(std::count(ids.begin(), ids.end(), 256) == 0);
      const Sequences::Place place = windows->place(i);
      BOOST_TEST(place.epoch == 0);
      BOOST_TEST(place.begin % 201 % length == 0);
      BOOST_TEST(place.window == place.begin / 201 * (199 / length) + place.begin % 201 / length);
      begins.push_back(place.begin);
    }
    std::sort(begins.begin(), begins.end());
    BOOST_TEST((std::adjacent_find(begins.begin(), begins.end()) == begins.end()));
  }
  BOOST_CHECK_EXCEPTION(ShuffledWindows(corpus.split("train"), 200, 5, 200), ConfigError,
                        says("[loader] not_enough_data: expected a length below the length of the "
                             "documents, 200 tokens",
                             "got 200"));
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused_before_anything_is_made) {
  const TempFolder folder;
  const auto refused = [&](const auto& change, const std::string& message) {
    SyntheticOptions options = small(folder / "bad");
    change(options);
    BOOST_CHECK_EXCEPTION(synthesize(options), ConfigError, says(message));
    BOOST_TEST(!std::filesystem::exists(folder / "bad"));
  };
  using O = SyntheticOptions;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused([](O& o) { o.topic.alphabet = 1; }, "--alphabet: expected 2 to 94, got 1");
  refused([](O& o) { o.topic.alphabet = 95; }, "--alphabet: expected 2 to 94, got 95");
  refused([](O& o) { o.topic.local = 1.5; }, "--local: expected 0 to 1, got 1.5");
  refused([&](O& o) { o.topic.local = nan; }, "--local: expected 0 to 1, got nan");
  refused([](O& o) { o.topic.alpha = 0; }, "--alpha: expected 1e-06 to 1e+06, got 0");
  refused([](O& o) { o.copies.probability = -0.1; }, "--copy: expected 0 to 1");
  refused([](O& o) { o.copies.length = 0; }, "--copy-length: expected 1 to 200, got 0");
  refused([](O& o) { o.copies.length = 201; }, "--copy-length: expected 1 to 200, got 201");
  refused([](O& o) { o.document_tokens = 1; }, "--document-tokens: expected 2 to ");
  refused([](O& o) { o.document_tokens = INT64_MAX; }, "--document-tokens: expected 2 to ");
  refused([](O& o) { o.documents[1] = 0; }, "--documents: expected 1 to ");
  refused([](O& o) { o.documents[0] = INT64_MAX; }, "--documents: expected 1 to ");
  refused([](O& o) { o.output.clear(); }, "--output");
  BOOST_CHECK_EXCEPTION(synthetic_options("topics"), ConfigError, says("did you mean 'topic'?"));
  synthesize(small(folder / "there"));
  BOOST_CHECK_EXCEPTION(synthesize(small(folder / "there")), ConfigError, says("--force"));
}

BOOST_AUTO_TEST_CASE(a_manifest_that_does_not_fit_is_refused) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "a";
  synthesize(small(path));
  const std::string sound = read_file(path / "manifest.json");
  const struct {
    std::string from, to, message;
  } cases[] = {
      {"\"within documents\"", "\"within files\"", "expected windows 'within documents', got"},
      {"\"within documents\"", "7", "with a proper 'windows'"},
      {"\"document_tokens\": 200", "\"document_tokens\": 100", "expected documents of 100 tokens"},
      {"\"document_tokens\": 200", "\"document_tokens\": 0", "document_tokens above 0, got 0"},
      {"\"document_tokens\": 200", "\"document_tokens\": -5", "document_tokens above 0, got -5"},
      {"\"document_tokens\": 200", "\"document_tokens\": 9223372036854775807", "document_tokens"},
      {"\"document_tokens\": 200", "\"document_tokens\": 9223372036854775806", "documents of"},
      {"\"document_tokens\": 200", "\"document_tokens\": 2e2", "a proper 'document_tokens'"},
      {"\"document_tokens\": 200", "\"x\": 200", "with a proper 'document_tokens'"},
      {"\"windows\"", "\"x\"", "expected the hash"},
      {"\"floor\": ", "\"floor\": -", "a floor of at least 0 nats"},
      {"\"floor\": ", "\"floor\": \"\", \"x\": ", "a floor of at least 0 nats"},
  };
  for (const auto& c : cases) {
    std::string text = sound;
    text.replace(text.find(c.from), c.from.size(), c.to);
    write_file_atomic(path / "manifest.json", text);
    BOOST_CHECK_EXCEPTION(Corpus::open(path), IoError, says("[corpus] ", c.message));
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
