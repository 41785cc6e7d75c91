#include "data/neox_order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "neox order";
constexpr int64_t kMost = int64_t{1} << 32;  // numpy draws wider numbers for longer lists

// From 0 to m, m > 0.
uint32_t draw(uint32_t m, std::mt19937& generator) {
  const uint32_t mask = UINT32_MAX >> std::countl_zero(m);
  uint32_t value = 0;
  do value = static_cast<uint32_t>(generator()) & mask;
  while (value > m);
  return value;
}

}  // namespace

void numpy_shuffle(std::span<uint32_t> values, std::mt19937& generator) {
  require<ConfigError>(values.size() <= static_cast<size_t>(kMost), kWhere,
                       "expected at most 2^32 values to shuffle, got ", values.size());
  for (size_t i = values.size(); i-- > 1;)
    std::swap(values[i], values[draw(static_cast<uint32_t>(i), generator)]);
}

NeoxOrder::NeoxOrder(Tokens tokens, std::vector<int64_t> begins, int64_t seq_len, int64_t samples,
                     uint32_t seed)
    : tokens_(std::move(tokens)), seq_len_(seq_len) {
  require<ConfigError>(seq_len > 0 && samples > 0, kWhere,
                       "expected a length and a number of samples of at least 1, got ", seq_len,
                       " and ", samples);
  require<ConfigError>(!begins.empty() && begins.front() == 0 &&
                           std::is_sorted(begins.begin(), begins.end()) &&
                           begins.back() <= tokens_.size(),
                       kWhere, "expected documents that begin one behind the other within ",
                       tokens_.size(), " tokens");
  if (begins.back() < tokens_.size()) begins.push_back(tokens_.size());
  const auto n_documents = static_cast<int64_t>(begins.size()) - 1;
  const int64_t n_tokens = tokens_.size();

  // The smallest E with (E n_tokens - 1) / seq_len >= samples, which is E n_tokens > seq_len
  // samples.
  int64_t wanted = 0, in_all = 0, entries = 0;
  require<ConfigError>(n_tokens > 0 && !__builtin_mul_overflow(seq_len, samples, &wanted), kWhere,
                       "expected tokens for ", samples, " samples of ", seq_len, ", got ",
                       n_tokens);
  epochs_ = wanted / n_tokens + 1;
  require<ConfigError>(!__builtin_mul_overflow(epochs_, n_tokens, &in_all) &&
                           !__builtin_mul_overflow(epochs_, n_documents, &entries) &&
                           entries < kMost && (in_all - 1) / seq_len < kMost,
                       kWhere, "expected fewer than 2^32 documents and samples, got ", n_documents,
                       " documents in ", epochs_, " epochs and ", samples,
                       " samples; train for fewer steps");
  documents_.resize(static_cast<size_t>(entries));
  for (size_t i = 0; i < documents_.size(); ++i)
    documents_[i] = static_cast<uint32_t>(i % static_cast<size_t>(n_documents));
  std::mt19937 generator(seed);
  numpy_shuffle(documents_, generator);

  at_.reserve(documents_.size() + 1);
  at_.push_back(0);
  for (const uint32_t document : documents_)
    at_.push_back(at_.back() + begins[document + size_t{1}] - begins[document]);

  samples_.resize(static_cast<size_t>((in_all - 1) / seq_len));
  std::iota(samples_.begin(), samples_.end(), uint32_t{0});
  numpy_shuffle(samples_, generator);
  begins_ = std::move(begins);
}

int64_t NeoxOrder::sample(int64_t i) const {
  require<ConfigError>(i >= 0 && i < size(), kWhere, "expected a sample within the ", size(),
                       " of this order, got ", i, "; the order is made for the whole of a run");
  return samples_[static_cast<size_t>(i)];
}

NeoxOrder::Begin NeoxOrder::begin_of(int64_t token) const {
  // The last document that begins there or before: behind empty ones.
  const auto next = std::upper_bound(at_.begin(), at_.end(), token);
  const int64_t entry = next - at_.begin() - 1;
  return {entry, token - at_[static_cast<size_t>(entry)]};
}

NeoxOrder::Begin NeoxOrder::begin(int64_t s) const {
  require<ConfigError>(s >= 0 && s <= size(), kWhere, "expected a sample within ", size(), ", got ",
                       s);
  return s == 0 ? Begin{} : begin_of(s * seq_len_);
}

Sequences::Place NeoxOrder::place(int64_t i) const {
  const Begin begin = begin_of(sample(i) * seq_len_);
  const uint32_t document = documents_[static_cast<size_t>(begin.entry)];
  const int64_t at = begins_[document] + begin.offset;
  return {i * seq_len_ / begins_.back(), at, at / seq_len_};
}

void NeoxOrder::copy(int64_t i, int32_t* out) const {
  Begin begin = begin_of(sample(i) * seq_len_);
  for (int64_t n = seq_len_ + 1; n > 0; ++begin.entry, begin.offset = 0) {
    const uint32_t document = documents_[static_cast<size_t>(begin.entry)];
    const int64_t first = begins_[document] + begin.offset;
    const int64_t piece = std::min(n, begins_[document + size_t{1}] - first);
    tokens_.copy(first, piece, out);
    out += piece;
    n -= piece;
  }
}

}  // namespace farfield::data
