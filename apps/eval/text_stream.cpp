#include "apps/eval/text_stream.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "data/shuffled_documents.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

// Bytes of the text that each id stands for: none for ids that end a document.
std::vector<int32_t> bytes_of_ids(const data::Tokenizer& tokenizer) {
  std::vector<int32_t> bytes(static_cast<size_t>(tokenizer.n_vocab()));
  for (size_t id = 0; id < bytes.size(); ++id) {
    const auto token = static_cast<int32_t>(id);
    if (token == tokenizer.end_of_document()) continue;
    bytes[id] = static_cast<int32_t>(tokenizer.decode_within({&token, 1}).size());
  }
  return bytes;
}

}  // namespace

TokenStream stream_of_split(const data::Corpus& corpus, const std::string& split,
                            std::optional<uint64_t> order_seed) {
  const data::Tokens& file = corpus.split(split);
  const data::Tokenizer& tokenizer = corpus.tokenizer();
  TokenStream stream;
  stream.id = concat(corpus.hash(), '/', split);
  stream.size = file.size();
  stream.document_tokens = corpus.document_tokens();
  stream.copy = [file](int64_t begin, int64_t n, int32_t* out) { file.copy(begin, n, out); };
  stream.place = [](int64_t i) { return i; };
  if (order_seed) {
    const data::ShuffledDocuments documents(file, corpus.document_begins(split), *order_seed);
    if (documents.documents() > 1) {
      stream.id += concat(" order=", *order_seed);
      stream.copy = [documents](int64_t begin, int64_t n, int32_t* out) {
        documents.copy(begin, n, out);
      };
      stream.place = [documents](int64_t i) { return documents.place(i); };
    }
  }
  stream.n_vocab = tokenizer.n_vocab();
  stream.end_of_document = tokenizer.end_of_document();
  if (!tokenizer.has_text()) return stream;
  stream.decode = [tokenizer = corpus.shared_tokenizer()](std::span<const int32_t> ids) {
    return tokenizer->decode(ids);
  };
  stream.encode = [tokenizer = corpus.shared_tokenizer()](std::string_view text,
                                                          std::vector<int32_t>& ids) {
    tokenizer->encode(text, ids);
  };
  stream.count_bytes = [copy = stream.copy, bytes = bytes_of_ids(tokenizer)](int64_t begin,
                                                                             int64_t n) {
    constexpr int64_t kPiece = int64_t{1} << 16;
    std::vector<int32_t> ids(static_cast<size_t>(std::min(n, kPiece)));
    int64_t sum = 0;
    for (const int64_t end = begin + n; begin < end;) {
      const int64_t piece = std::min(kPiece, end - begin);
      copy(begin, piece, ids.data());
      for (int64_t i = 0; i < piece; ++i)
        sum += bytes[static_cast<size_t>(ids[static_cast<size_t>(i)])];
      begin += piece;
    }
    return sum;
  };
  return stream;
}

}  // namespace farfield::eval
