#include <boost/test/unit_test.hpp>
#include <thread>

#include "data/encode.h"
#include "data/tokenizers/bytes.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/random.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_encode)
namespace {

using End = Encoder::End;
using Rows = std::vector<std::vector<int32_t>>;

// An id for each word, its length: can be cut before a blank alone. Slow on texts of odd size, so
// that threads do not take turns.
class WordTokenizer final : public Tokenizer {
 public:
  WordTokenizer() : Tokenizer("words of a test", "words of a test") {}
  int64_t n_vocab() const override { return 1 << 20; }
  int32_t end_of_document() const override { return 0; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    if (text.size() % 2 == 1) std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at + 1), text.size());
      ids.push_back(static_cast<int32_t>(end - at));
      at = end;
    }
  }
  std::string decode(std::span<const int32_t>) const override { return ""; }
  size_t cut(std::string_view text, size_t from) const override {
    return std::min(text.find(' ', from), text.size());
  }
};

struct Text {
  size_t row;
  std::string text;
  End end;
};

// Texts of a few bytes to a few MiB.
std::vector<Text> some_texts() {
  std::vector<Text> texts;
  const Random random{1, 2};
  uint64_t draw = 0;
  for (const size_t size : {0, 1, 5, 300'000, 10, 5'000'000, 7, 600'000, 262'144, 262'145, 3}) {
    std::string text;
    while (text.size() < size) text += std::string(1 + random.below(draw++, 9), 'w') + ' ';
    text.resize(size);
    texts.push_back({random.below(draw++, 3), text, draw % 3 == 0 ? End::part : End::document});
  }
  for (int i = 0; i < 3000; ++i)
    texts.push_back({random.below(draw++, 3), std::string(random.below(draw++, 40), 'x') + " y",
                     End::document});
  return texts;
}

Rows encoded(const Tokenizer& tokenizer, const std::vector<Text>& texts, size_t block) {
  Rows rows(3);
  Encoder encoder(tokenizer, 3, [&](size_t row, std::span<const int32_t> ids) {
    rows[row].insert(rows[row].end(), ids.begin(), ids.end());
  });
  for (const Text& t : texts) {
    size_t at = 0;
    for (; t.text.size() - at > block; at += block)
      encoder.add(t.row, std::string_view(t.text).substr(at, block), End::none);
    encoder.add(t.row, std::string_view(t.text).substr(at), t.end);
  }
  encoder.flush();
  return rows;
}

BOOST_AUTO_TEST_CASE(ids_are_those_of_whole_texts_for_any_blocks_and_threads) {
  const std::vector<Text> texts = some_texts();
  const ByteTokenizer bytes;
  const WordTokenizer words;
  const int threads = thread_count();
  for (const Tokenizer* tokenizer :
       {static_cast<const Tokenizer*>(&bytes), static_cast<const Tokenizer*>(&words)}) {
    Rows want(3);
    for (const Text& t : texts) {
      tokenizer->encode(t.text, want[t.row]);
      if (t.end == End::document) want[t.row].push_back(tokenizer->end_of_document());
    }
    for (const int n : {1, 4}) {
      set_thread_count(n);
      for (const size_t block : {size_t{100'003}, SIZE_MAX})
        BOOST_CHECK(encoded(*tokenizer, texts, block) == want);
    }
  }
  set_thread_count(threads);
}

BOOST_AUTO_TEST_CASE(a_text_that_cannot_be_cut_is_whole_or_refused) {
  const WordTokenizer words;
  const std::vector<Text> texts = {{0, std::string(900'000, 'w'), End::document}};
  BOOST_TEST(encoded(words, texts, 10'000)[0] == std::vector<int32_t>({900'000, 0}));
  Encoder encoder(
      words, 1, [](size_t, std::span<const int32_t>) {}, 700'000);
  const auto add = [&] {
    for (int i = 0; i < 90; ++i) encoder.add(0, std::string(10'000, 'w'), End::none);
    encoder.add(0, "", End::document);
  };
  BOOST_CHECK_EXCEPTION(add(), IoError,
                        says("[encode] expected text that the tokenizer 'words of a test' can take "
                             "in pieces, got ",
                             "(700000 are the most); --max-line 0"));
}

// What stands right behind a block decides, for some tokenizers, whether it can be cut there.
BOOST_AUTO_TEST_CASE(no_cut_is_taken_from_the_end_of_what_is_known_of_a_text) {
  const WordTokenizer words;
  // A blank that is the last byte of 512 KiB, where a look is due.
  std::string text(600'000, 'w');
  text[(size_t{1} << 19) - 1] = ' ';
  std::vector<std::string> pieces;
  struct Noting final : Tokenizer {
    Noting(const WordTokenizer& w, std::vector<std::string>& p)
        : Tokenizer("noting", "noting"), words(w), pieces(p) {}
    int64_t n_vocab() const override { return words.n_vocab(); }
    int32_t end_of_document() const override { return 0; }
    void encode(std::string_view t, std::vector<int32_t>& ids) const override {
      pieces.emplace_back(t);
      words.encode(t, ids);
    }
    std::string decode(std::span<const int32_t>) const override { return ""; }
    size_t cut(std::string_view t, size_t from) const override { return words.cut(t, from); }
    const WordTokenizer& words;
    std::vector<std::string>& pieces;
  };
  const Noting noting(words, pieces);
  const int threads = thread_count();
  set_thread_count(1);
  Encoder encoder(noting, 1, [](size_t, std::span<const int32_t>) {});
  encoder.add(0, std::string_view(text).substr(0, size_t{1} << 19), End::none);
  encoder.flush();
  BOOST_TEST(pieces.empty());  // it may not be one
  encoder.add(0, std::string_view(text).substr(size_t{1} << 19), End::document);
  encoder.flush();
  set_thread_count(threads);
  BOOST_TEST(pieces.size() == 2u);
  BOOST_TEST(pieces.front().size() == (size_t{1} << 19) - 1);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
