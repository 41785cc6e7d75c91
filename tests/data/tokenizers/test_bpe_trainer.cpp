#include <boost/test/unit_test.hpp>
#include <map>

#include "data/tokenizers/bpe.h"
#include "data/tokenizers/bpe_trainer.h"
#include "data/tokenizers/pre_tokenizer.h"
#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/random.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_bpe_trainer)
namespace {

using Texts = std::vector<std::string>;

LearnedBpe learn(const Texts& texts, const BpeTrainerOptions& options) {
  PieceCounter counter(bpe_pieces(options.normalizer));
  for (const std::string& text : texts) counter.add(text, true);
  return learn_bpe(counter.finish(), options);
}
LearnedBpe learn(const Texts& texts, int64_t vocab_size) {
  BpeTrainerOptions options;
  options.vocab_size = vocab_size;
  return learn(texts, options);
}

std::vector<std::pair<std::string, std::string>> merges_of(const BpeDefinition& d) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (const auto& [left, right] : d.merges)
    merges.emplace_back(d.tokens[static_cast<size_t>(left)], d.tokens[static_cast<size_t>(right)]);
  return merges;
}

// The same by the definition: all pairs of all pieces are counted anew for each merge.
std::vector<std::pair<std::string, std::string>> merges_by_definition(const Texts& texts,
                                                                      size_t most_tokens) {
  std::vector<std::string> tokens = learn({}, 257).definition.tokens;
  std::map<std::string, int32_t> ids;
  for (size_t id = 0; id < tokens.size(); ++id) ids[tokens[id]] = static_cast<int32_t>(id);
  std::vector<std::vector<int32_t>> pieces;
  for (const std::string& text : texts)
    for_each_piece(Pattern::gpt2, text, [&](std::string_view piece) {
      pieces.emplace_back();
      for (const char c : piece) pieces.back().push_back(ids.at(std::string(1, c)));
    });
  std::map<std::pair<int32_t, int32_t>, int32_t> known;
  std::vector<std::pair<std::string, std::string>> merges;
  const auto apply = [&](std::pair<int32_t, int32_t> pair, int32_t product) {
    for (auto& piece : pieces)
      for (size_t i = 0; i + 1 < piece.size(); ++i)
        if (piece[i] == pair.first && piece[i + 1] == pair.second) {
          piece[i] = product;
          piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
  };
  while (tokens.size() < most_tokens) {
    std::map<std::pair<int32_t, int32_t>, int64_t> counts;  // of equal counts the smallest is first
    for (const auto& piece : pieces)
      for (size_t i = 0; i + 1 < piece.size(); ++i) ++counts[{piece[i], piece[i + 1]}];
    std::pair<int32_t, int32_t> best;
    int64_t most = 1;
    for (const auto& [pair, count] : counts)
      if (count > most) {
        best = pair;
        most = count;
      }
    if (most == 1) break;
    const std::string& left = tokens[static_cast<size_t>(best.first)];
    const std::string& right = tokens[static_cast<size_t>(best.second)];
    merges.emplace_back(left, right);
    const auto [found, is_new] = ids.emplace(left + right, static_cast<int32_t>(tokens.size()));
    if (is_new) tokens.push_back(found->first);
    known[best] = found->second;
    apply(best, found->second);
    // What has been merged before is merged at once where it stands again.
    for (bool again = !is_new; again;) {
      again = false;
      for (const auto& [l, r] : merges) {
        const std::pair<int32_t, int32_t> pair = {ids.at(l), ids.at(r)};
        const auto stands = [&](const std::vector<int32_t>& p) {
          for (size_t i = 0; i + 1 < p.size(); ++i)
            if (p[i] == pair.first && p[i + 1] == pair.second) return true;
          return false;
        };
        if (std::none_of(pieces.begin(), pieces.end(), stands)) continue;
        apply(pair, known.at(pair));
        again = true;
        break;
      }
    }
  }
  return merges;
}

Texts random_texts(uint64_t seed, std::string_view letters, size_t n_texts, uint64_t most) {
  const Random random{seed, 0};
  uint64_t next = 0;
  Texts texts(n_texts);
  for (std::string& text : texts)
    for (uint64_t left = random.below(next++, most); left > 0; --left)
      text += letters[static_cast<size_t>(random.below(next++, letters.size()))];
  return texts;
}

BOOST_AUTO_TEST_CASE(merges_are_those_of_the_definition) {
  for (uint64_t seed = 0; seed < 30; ++seed)
    for (const std::string_view letters : {"ab", "abc ", "aab b \n1\xC3\xA9"}) {
      const Texts texts = random_texts(seed, letters, 12, 40);
      for (const int64_t vocab_size : {260, 300}) {
        const LearnedBpe learned = learn(texts, vocab_size);
        const bool is_equal = merges_of(learned.definition) ==
                              merges_by_definition(texts, static_cast<size_t>(vocab_size) - 1);
        BOOST_TEST(is_equal, "seed " << seed << ", letters '" << letters << "'");
      }
    }
}

BOOST_AUTO_TEST_CASE(the_number_of_tokens_is_what_the_tokenizer_makes) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Texts texts = random_texts(seed, "abcab d", 10, 60);
    const LearnedBpe learned = learn(texts, 280);
    const BpeTokenizer tokenizer("learned", learned.definition, {});
    std::vector<int32_t> ids;
    for (const std::string& text : texts) tokenizer.encode(text, ids);
    BOOST_TEST(static_cast<int64_t>(ids.size()) == learned.n_tokens);
  }
}

BOOST_AUTO_TEST_CASE(of_pairs_seen_alike_the_smaller_ids_come_first) {
  const LearnedBpe learned = learn({"cd ab", "ab cd"}, 259);
  BOOST_TEST(learned.stopped == "");
  const std::pair<std::string, std::string> first = {"a", "b"}, second = {"c", "d"};
  const auto merges = merges_of(learned.definition);
  BOOST_TEST((merges.size() == 2u && merges[0] == first && merges[1] == second));
}

BOOST_AUTO_TEST_CASE(ids_are_those_of_gpt2) {
  BpeTrainerOptions options;
  options.vocab_size = 260;
  options.special = {"<|pad|>"};
  const BpeDefinition d = learn({"the the", "the"}, options).definition;
  BOOST_TEST(d.tokens.size() == 258u);
  BOOST_TEST(d.tokens[0] == "!");
  BOOST_TEST(d.tokens[187] == "\xFF");
  BOOST_TEST(d.tokens[188] == std::string(1, '\0'));
  BOOST_TEST(d.tokens[220] == " ");
  BOOST_TEST(d.tokens[255] == "\xAD");
  BOOST_TEST(d.tokens[256] == "he");
  BOOST_TEST(d.added.size() == 2u);
  BOOST_TEST(d.added[0].content == "<|pad|>");
  BOOST_TEST(d.added[0].id == 258);
  BOOST_TEST(d.added[1].content == "<|endoftext|>");
  BOOST_TEST(d.added[1].id == 259);
}

BOOST_AUTO_TEST_CASE(it_stops_when_no_pair_occurs_twice) {
  const LearnedBpe learned = learn({"abab xy"}, 1000);
  BOOST_TEST(learned.stopped == "no two tokens stand side by side twice");
  BOOST_TEST(learned.definition.merges.size() == 1u);
  BOOST_TEST(learned.definition.added.back().id == 257);
}

BOOST_AUTO_TEST_CASE(the_number_of_threads_makes_no_difference) {
  const Texts texts = random_texts(7, "abcdefgh   \n", 40, 60000);
  const int before = thread_count();
  std::vector<std::string> files;
  for (const int64_t threads : {1, 3}) {
    set_thread_count(threads);
    files.push_back(tokenizer_json_text(learn(texts, 400).definition));
  }
  set_thread_count(before);
  BOOST_TEST((files[0] == files[1]));
}

BOOST_AUTO_TEST_CASE(parts_of_a_text_count_as_the_whole) {
  const std::string text = random_texts(3, "abc de\n ", 1, 3000000)[0];
  PieceCounter whole(bpe_pieces(Normalizer::none)), parts(bpe_pieces(Normalizer::none));
  whole.add(text, true);
  for (size_t at = 0; at < text.size(); at += 70001)
    parts.add(std::string_view(text).substr(at, 70001), at + 70001 >= text.size());
  const PieceTable &a = whole.finish(), &b = parts.finish();
  BOOST_TEST(a.size() == b.size());
  const std::vector<uint32_t> of_a = a.by_count(), of_b = b.by_count();
  bool is_equal = true;
  for (size_t i = 0; i < of_a.size() && is_equal; ++i)
    is_equal = a.piece(of_a[i]) == b.piece(of_b[i]) && a.count(of_a[i]) == b.count(of_b[i]);
  BOOST_TEST(is_equal);
}

BOOST_AUTO_TEST_CASE(long_pieces_are_counted_in_cuts) {
  PieceCounter counter(bpe_pieces(Normalizer::none));
  counter.add(std::string(5 * 1024 + 3, 'a'), true);
  const PieceTable& pieces = counter.finish();
  BOOST_TEST(pieces.size() == 2u);
  BOOST_TEST(pieces.count(0) == 5);
  BOOST_TEST(pieces.piece(1) == "aaa");
}

BOOST_AUTO_TEST_CASE(pieces_seen_seldom_are_dropped_when_there_are_too_many) {
  PieceCounter counter(bpe_pieces(Normalizer::none), /*most_bytes=*/6000);
  std::string text;
  for (int i = 0; i < 2000; ++i) text += " frequent " + std::to_string(1000 + i);
  counter.add(text, true);
  const PieceTable& pieces = counter.finish();
  BOOST_TEST(counter.dropped() > 0);
  BOOST_TEST(pieces.bytes() <= 6000u);
  BOOST_TEST(pieces.piece(pieces.by_count()[0]) == " frequent");
  BOOST_TEST(pieces.count(pieces.by_count()[0]) == 2000);
}

BOOST_AUTO_TEST_CASE(nfc_is_done_before_counting) {
  BpeTrainerOptions options;
  options.vocab_size = 258;
  options.normalizer = Normalizer::nfc;
  const BpeDefinition d = learn({"e\xCC\x81", "e\xCC\x81"}, options).definition;
  BOOST_TEST(d.tokens[256] == "\xC3\xA9");
  BOOST_TEST((d.normalizer == Normalizer::nfc));
}

BOOST_AUTO_TEST_CASE(what_is_written_reads_back) {
  const LearnedBpe learned = learn(random_texts(5, "abcdef \xC3\xA9\n\"\\", 20, 400), 300);
  const std::string text = tokenizer_json_text(learned.definition);
  BOOST_TEST((tokenizer_json_text(read_tokenizer_json("learned", text)) == text));
}

BOOST_AUTO_TEST_CASE(a_vocabulary_of_the_wrong_size_is_refused) {
  BOOST_CHECK_EXCEPTION(learn({"a"}, 256), ConfigError,
                        says("--vocab-size: expected from 257 (256 bytes, 1 special token) to "
                             "1048576, got 256"));
  BOOST_CHECK_EXCEPTION(learn({"a"}, (int64_t{1} << 20) + 1), ConfigError, says("got 1048577"));
  BpeTrainerOptions options;
  options.special = {"<|endoftext|>"};
  BOOST_CHECK_EXCEPTION(check(options), ConfigError, says("got '<|endoftext|>' again"));
  for (const std::string& bad :
       {std::string("a"), std::string(), std::string("<\xFF>"), std::string(1025, 'a')}) {
    options.special = {bad};
    BOOST_CHECK_EXCEPTION(check(options), ConfigError,
                          says("--special: expected 2 to 1024 bytes of UTF-8, got '"));
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
