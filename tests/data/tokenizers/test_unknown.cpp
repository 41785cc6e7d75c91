#include <boost/test/unit_test.hpp>

#include "data/convert.h"
#include "data/prepare.h"
#include "engine/base/error.h"
#include "tests/support/corpus_files.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

// What becomes of token files whose tokenizer cannot be read.
namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_unknown)
namespace {

using Ids = std::vector<int32_t>;

struct Fixture {
  TempFolder folder;
  ConvertOptions options;

  Fixture() {
    put(folder / "nano" / "train.bin", bytes_of(std::vector<uint16_t>{1, 2, 64, 3, 64, 4}));
    put(folder / "nano" / "val.bin", bytes_of(std::vector<uint16_t>{5, 64}));
    options.input = folder / "nano";
    options.corpus.id_type = "u16";
    options.corpus.vocab_size = 65;
  }
  Conversion to(const std::string& format) {
    options.format = format;
    options.output = folder / format;
    return convert(options);
  }
};

BOOST_FIXTURE_TEST_SUITE(unknown, Fixture)

BOOST_AUTO_TEST_CASE(what_is_converted_opens_without_options_and_knows_no_bytes) {
  for (const char* end : {"", "64"}) {
    options.corpus.end_of_text = end;
    options.force = true;
    for (const std::string format : {"megatron", "nanogpt"}) {
      const Conversion made = to(format);
      BOOST_TEST(made.counts[0].bytes == kUnknown);
      const Corpus back = Corpus::open(folder / format);
      BOOST_TEST(back.tokenizer().name() == (*end == '\0' ? "ids:65" : "ids:65:64"));
      BOOST_TEST(back.counts("train").bytes == kUnknown);
      BOOST_TEST(tokens_of(back, "train") == (Ids{1, 2, 64, 3, 64, 4}));
      BOOST_TEST(tokens_of(back, "valid") == (Ids{5, 64}));
      BOOST_TEST(back.document_begins("train").size() == (*end == '\0' ? 1u : 3u));
      CorpusOptions asked;
      asked.end_of_text = *end == '\0' ? "64" : "5";
      BOOST_CHECK_EXCEPTION(Corpus::open(folder / format, asked), ConfigError,
                            says("; leave --end-of-text out"));
    }
  }
  to("llm.c");
  BOOST_TEST(tokens_of(Corpus::open(folder / "llm.c"), "train") == (Ids{64, 1, 2, 64, 3, 64, 4}));
}

BOOST_AUTO_TEST_CASE(what_needs_text_or_an_end_is_refused) {
  BOOST_CHECK_EXCEPTION(to("farfield"), ConfigError,
                        says("expected a tokenizer whose text is known", "choose another --to"));
  BOOST_CHECK_EXCEPTION(to("llm.c"), ConfigError,
                        says("expected a token that ends documents", "--end-of-text"));
  put(folder / "text.txt", "text");
  PrepareOptions prepared;
  prepared.source.inputs = {folder / "text.txt"};
  prepared.output = folder / "corpus";
  prepared.tokenizer = "ids:65";
  BOOST_CHECK_EXCEPTION(prepare(prepared), ConfigError,
                        says("expected a tokenizer that knows text, got ids:65"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
