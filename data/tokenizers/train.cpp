#include "data/tokenizers/train.h"

#include <memory>
#include <utility>

#include "data/tokenizers/bpe.h"
#include "data/tokenizers/words.h"
#include "data/tokenizers/words_json.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr int64_t kProgressBytes = int64_t{1} << 20;

void check_words(int64_t vocab_size) {
  require<ConfigError>(
      vocab_size == 0 || (vocab_size > static_cast<int64_t>(kSpecialWords.size()) &&
                          vocab_size <= int64_t{kMostTokens}),
      kWhere, "--vocab-size: expected from ", kSpecialWords.size() + 1, " to ", kMostTokens,
      " words, or 0 for all, got ", vocab_size);
}

int64_t sum_of_counts(const PieceTable& pieces) {
  int64_t sum = 0;
  for (size_t i = 0; i < pieces.size(); ++i) sum += pieces.count(i);
  return sum;
}

}  // namespace

TrainedTokenizer train_tokenizer(const TokenizerTraining& options,
                                 const std::function<void(const TrainingProgress&)>& progress) {
  const bool is_bpe = options.kind == TokenizerKind::bpe;
  if (is_bpe)
    check(options.vocabulary);
  else
    check_words(options.vocabulary.vocab_size);
  DocumentReader reader(options.source);
  PieceCounter counter(is_bpe ? bpe_pieces(options.vocabulary.normalizer) : words_pieces());
  TrainedTokenizer trained;
  TrainingProgress so_far;
  so_far.bytes_total = reader.bytes_total();
  int64_t reported = 0;
  for (Document document; reader.next(document);) {
    ++trained.documents;
    size_t left = document.size();
    document.read([&](std::string_view block) {
      left -= block.size();
      counter.add(block, /*is_last=*/left == 0);
      trained.text_bytes += static_cast<int64_t>(block.size());
      if (!progress || trained.text_bytes < reported + kProgressBytes) return;
      so_far.bytes_read = reader.bytes_read();
      so_far.text_bytes = reported = trained.text_bytes;
      so_far.documents = trained.documents;
      progress(so_far);
    });
  }
  trained.skipped = reader.skipped();
  trained.sources = reader.records();
  require<IoError>(trained.documents > 0, kWhere, "expected text to learn from, got none in ",
                   reader.records().front().path,
                   reader.records().size() > 1 ? " and the other inputs" : "");
  const PieceTable& pieces = counter.finish();
  trained.n_pieces = static_cast<int64_t>(pieces.size());
  trained.dropped = counter.dropped();
  if (!is_bpe) {
    std::vector<std::string> words = learn_words(pieces, options.vocabulary.vocab_size);
    if (static_cast<int64_t>(words.size()) < options.vocabulary.vocab_size)
      trained.stopped = "there are no more words";
    trained.tokenizer =
        std::make_shared<WordsTokenizer>("words", std::move(words), options.tokenizer);
    trained.n_tokens = sum_of_counts(pieces);
    return trained;
  }
  so_far.bytes_read = so_far.bytes_total;
  so_far.tokens_wanted = options.vocabulary.vocab_size;
  LearnedBpe learned = learn_bpe(pieces, options.vocabulary, [&](int64_t tokens) {
    so_far.tokens = tokens;
    if (progress) progress(so_far);
  });
  trained.stopped = std::move(learned.stopped);
  trained.n_tokens = learned.n_tokens;
  trained.tokenizer =
      std::make_shared<BpeTokenizer>("bpe", std::move(learned.definition), options.tokenizer);
  return trained;
}

}  // namespace farfield::data
