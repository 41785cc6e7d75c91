#include "data/tokenizers/unknown.h"

#include <charconv>
#include <memory>

#include "data/tokenizers/bpe_definition.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr std::string_view kPrefix = "ids:";

std::string ids_name(int64_t n_vocab, int64_t end_of_document) {
  const std::string name = concat(kPrefix, n_vocab);
  return end_of_document == Tokenizer::kNone ? name : concat(name, ':', end_of_document);
}

// Takes a number from the front of the text; -1 where there is none.
int64_t take_number(std::string_view& text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc() ? number : -1;
}

}  // namespace

UnknownTokenizer::UnknownTokenizer(int64_t n_vocab, int64_t end_of_document)
    : Tokenizer(ids_name(n_vocab, end_of_document), ids_name(n_vocab, end_of_document)),
      n_vocab_(n_vocab),
      end_of_document_(static_cast<int32_t>(end_of_document)) {
  require<ConfigError>(n_vocab >= 1 && n_vocab <= kMostTokens, kWhere,
                       "--vocab-size: expected 1 to ", kMostTokens, " ids, got ", n_vocab);
  require<ConfigError>(end_of_document >= kNone && end_of_document < n_vocab, kWhere,
                       "--end-of-text: expected an id below ", n_vocab, ", got ", end_of_document);
}

TokenizerPtr UnknownTokenizer::of_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return nullptr;
  std::string_view rest = name.substr(kPrefix.size());
  const int64_t n_vocab = take_number(rest);
  int64_t end_of_document = kNone;
  if (rest.starts_with(':')) {
    rest.remove_prefix(1);
    end_of_document = take_number(rest);
  }
  const bool is_in_range = n_vocab >= 1 && n_vocab <= kMostTokens && end_of_document < n_vocab;
  if (!is_in_range || !rest.empty() || ids_name(n_vocab, end_of_document) != name) return nullptr;
  return std::make_shared<UnknownTokenizer>(n_vocab, end_of_document);
}

void UnknownTokenizer::encode(std::string_view, std::vector<int32_t>&) const {
  fail<ConfigError>(kWhere, "expected a tokenizer that knows text, got ", name(),
                    ", which knows numbers alone; name another with --tokenizer");
}

std::string UnknownTokenizer::decode(std::span<const int32_t> ids) const {
  for (const int32_t id : ids) check_id(id);
  return {};
}

size_t UnknownTokenizer::cut(std::string_view text, size_t) const { return text.size(); }

}  // namespace farfield::data
