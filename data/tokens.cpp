#include "data/tokens.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

constexpr std::string_view kWhere = "tokens";

// Calls fn with a value of the stored type.
template <class F>
auto with_type(IdType type, const F& fn) {
  switch (type) {
    case IdType::u8:
      return fn(uint8_t{});
    case IdType::i8:
      return fn(int8_t{});
    case IdType::i16:
      return fn(int16_t{});
    case IdType::u16:
      return fn(uint16_t{});
    case IdType::i32:
      return fn(int32_t{});
    case IdType::u32:
      return fn(uint32_t{});
    case IdType::i64:
      break;
  }
  return fn(int64_t{});
}

// From 0 to n_vocab - 1, as an unsigned comparison of 64 bits sees it.
bool is_below(auto id, int64_t n_vocab) {
  return static_cast<uint64_t>(static_cast<int64_t>(id)) < static_cast<uint64_t>(n_vocab);
}

// n ids from bytes that need not be aligned. The largest of them as unsigned numbers, so that one
// comparison finds those below 0 too.
template <class Stored>
uint64_t widen(const std::byte* from, int64_t n, int32_t* out) {
  uint64_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    Stored id;
    std::memcpy(&id, from + i * static_cast<int64_t>(sizeof id), sizeof id);
    most = std::max(most, static_cast<uint64_t>(static_cast<int64_t>(id)));
    out[i] = static_cast<int32_t>(id);
  }
  return most;
}

}  // namespace

int size_of(IdType type) {
  return with_type(type, [](auto id) { return static_cast<int>(sizeof id); });
}

Tokens::Tokens(std::vector<Piece> pieces, IdType type, int64_t n_vocab)
    : pieces_(std::move(pieces)), type_(type), n_vocab_(n_vocab) {
  begins_.push_back(0);
  for (const Piece& piece : pieces_) {
    int64_t end = 0;
    require<IoError>(piece.begin >= 0 && piece.n >= 0 &&
                         !__builtin_mul_overflow(piece.n, int64_t{size_of(type)}, &end) &&
                         !__builtin_add_overflow(end, piece.begin, &end) &&
                         static_cast<uint64_t>(end) <= piece.file->bytes().size(),
                     kWhere, piece.name, ": expected ", piece.n, " ids of ", size_of(type),
                     " bytes from byte ", piece.begin, " on, got a file of ",
                     piece.file->bytes().size(), " bytes; it is cut short");
    require<IoError>(piece.n <= INT64_MAX - begins_.back(), kWhere, piece.name,
                     ": the number of tokens overflows 64 bits");
    begins_.push_back(begins_.back() + piece.n);
  }
}

void Tokens::check_range(int64_t begin, int64_t n) const {
  require<ConfigError>(begin >= 0 && n >= 0 && n <= size() && begin <= size() - n, kWhere,
                       "expected a range of tokens within ", size(), ", got ", n, " from ", begin,
                       " on");
}

size_t Tokens::piece_of(int64_t i) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), i);
  return static_cast<size_t>(next - begins_.begin()) - 1;
}

int32_t Tokens::operator[](int64_t i) const {
  int32_t id = 0;
  copy(i, 1, &id);
  return id;
}

void Tokens::copy(int64_t begin, int64_t n, int32_t* out) const {
  check_range(begin, n);
  for (size_t p = n > 0 ? piece_of(begin) : 0; n > 0; ++p) {
    const Piece& piece = pieces_[p];
    const int64_t first = begin - begins_[p], count = std::min(n, piece.n - first);
    const std::byte* from = piece.file->bytes().data() + piece.begin + first * size_of(type_);
    const uint64_t most =
        with_type(type_, [&](auto id) { return widen<decltype(id)>(from, count, out); });
    if (!is_below(most, n_vocab_)) [[unlikely]] {
      with_type(type_, [&](auto id) {
        int64_t bad = 0;
        do std::memcpy(&id, from + bad * static_cast<int64_t>(sizeof id), sizeof id);
        while (is_below(id, n_vocab_) && ++bad < count);
        fail<IoError>(kWhere, piece.name, ": expected ids from 0 to ", n_vocab_ - 1, ", got ",
                      int64_t{id}, " at byte ", piece.begin + (first + bad) * size_of(type_),
                      "; the file is damaged, or of another tokenizer");
      });
    }
    begin += count;
    out += count;
    n -= count;
  }
}

Tokens Tokens::slice(int64_t begin, int64_t n) const {
  check_range(begin, n);
  std::vector<Piece> pieces;
  for (size_t p = n > 0 ? piece_of(begin) : 0; n > 0; ++p) {
    const int64_t first = begin - begins_[p], count = std::min(n, pieces_[p].n - first);
    pieces.push_back(pieces_[p]);
    pieces.back().begin += first * size_of(type_);
    pieces.back().n = count;
    begin += count;
    n -= count;
  }
  return Tokens(std::move(pieces), type_, n_vocab_);
}

Tokens::Place Tokens::place(int64_t i) const {
  check_range(i, 1);
  const Piece& piece = pieces_[piece_of(i)];
  return {piece.name, piece.begin + (i - begins_[piece_of(i)]) * size_of(type_)};
}

std::string Tokens::hash(const Watch& watch) const {
  // Ids and hash in one pass: each block is still in the cache for the second.
  constexpr int64_t kBlock = int64_t{1} << 15;
  std::vector<int32_t> ids(static_cast<size_t>(std::min(kBlock, size())));
  Hasher hasher;
  for (size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    for (int64_t at = 0; at < piece.n; at += kBlock) {
      const int64_t n = std::min(kBlock, piece.n - at);
      copy(begins_[p] + at, n, ids.data());
      hasher.update(piece.file->bytes().data() + piece.begin + at * size_of(type_),
                    static_cast<size_t>(n * size_of(type_)));
      if (watch) watch(n);
    }
  }
  return hasher.hex();
}

std::vector<int64_t> document_begins(const Tokens& tokens, int32_t end_of_document) {
  constexpr int64_t kBlock = int64_t{1} << 16;
  std::vector<int64_t> begins = {0};
  std::vector<int32_t> ids(static_cast<size_t>(std::min(kBlock, tokens.size())));
  for (int64_t at = 0; at < tokens.size(); at += kBlock) {
    const int64_t n = std::min(kBlock, tokens.size() - at);
    tokens.copy(at, n, ids.data());
    for (int64_t i = 0; i < n; ++i)
      if (ids[static_cast<size_t>(i)] == end_of_document) begins.push_back(at + i + 1);
  }
  return begins;
}

}  // namespace farfield::data
