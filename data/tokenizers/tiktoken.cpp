#include "data/tokenizers/tiktoken.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "data/tokenizers/token_ids.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr size_t kMostTokenBytes = 4096;
constexpr size_t kMostWork = size_t{1} << 34;  // last_merge() takes the square of a token's bytes

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// The bytes; none for a text that is not base64 with its padding.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return {};
  const size_t n_padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string bytes;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int value = i + n_padding < text.size() ? value_of(text[i]) : 0;
    if (value < 0) return {};
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 0xFF);
    bits = 0;
  }
  bytes.resize(bytes.size() - n_padding);
  return bytes;
}

struct Line {
  std::string bytes;
  int32_t rank;
};

std::optional<Line> parse(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank > 2 * kMostTokenBytes) return {};
  std::optional<std::string> bytes = from_base64(line.substr(0, blank));
  if (!bytes.has_value() || bytes->size() > kMostTokenBytes) return {};
  const std::string_view digits = line.substr(blank + 1);
  int32_t rank = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (error != std::errc() || end != digits.data() + digits.size() || rank < 0) return {};
  return Line{std::move(*bytes), rank};
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

struct Known {
  std::string_view name;
  Pattern pattern;
  std::vector<AddedToken> special;
};

AddedToken special(int32_t id, const char* content) { return {id, content, true, false}; }

std::vector<Known> known_patterns() {
  return {{"gpt2", Pattern::gpt2, {special(50256, "<|endoftext|>")}},
          {"cl100k_base",
           Pattern::cl100k_base,
           {special(100257, "<|endoftext|>"), special(100258, "<|fim_prefix|>"),
            special(100259, "<|fim_middle|>"), special(100260, "<|fim_suffix|>"),
            special(100276, "<|endofprompt|>")}}};
}

Known find_pattern(std::string_view file, const std::string& name) {
  for (Known& known : known_patterns())
    if (known.name == name) return std::move(known);
  fail<ConfigError>(
      kWhere, file, ": expected --tokenizer-pattern gpt2 or cl100k_base for a tiktoken file, ",
      "which does not say how text is cut, got ", name.empty() ? "none" : concat('\'', name, '\''));
}

// The two parts that the last merge joins when tiktoken makes a token of its bytes: of the pairs
// whose bytes are a token, the pair of lowest rank first, and of equal ranks the leftmost. None for
// a token that is not made so. A longer piece makes the token of the same two parts, for what joins
// within it depends on nothing outside: so one merge for each token gives the ids of tiktoken.
std::optional<BpeDefinition::Merge> last_merge(std::string_view bytes, const TokenIds& ids) {
  std::vector<size_t> begins(bytes.size() + 1);
  for (size_t i = 0; i < begins.size(); ++i) begins[i] = i;
  const auto find = [&](size_t from, size_t to) {
    return ids.find(bytes.substr(begins[from], begins[to] - begins[from]));
  };
  const auto joined = [&](size_t i) {  // the token that parts i and i + 1 make
    const int32_t found = find(i, i + 2);
    return found < 0 ? INT32_MAX : found;
  };
  std::vector<int32_t> pairs;
  for (size_t i = 0; i + 2 < begins.size(); ++i) pairs.push_back(joined(i));
  while (pairs.size() > 1) {
    const auto lowest = std::min_element(pairs.begin(), pairs.end());
    if (*lowest == INT32_MAX) return {};
    const auto at = static_cast<size_t>(lowest - pairs.begin());
    begins.erase(begins.begin() + static_cast<ptrdiff_t>(at + 1));
    pairs.erase(lowest);
    if (at > 0) pairs[at - 1] = joined(at - 1);
    if (at < pairs.size()) pairs[at] = joined(at);
  }
  return BpeDefinition::Merge{find(0, 1), find(1, 2)};
}

}  // namespace

bool looks_like_tiktoken(std::string_view text) {
  return parse(first_line(text.substr(0, 4 * kMostTokenBytes))).has_value();
}

BpeDefinition read_tiktoken(std::string_view file, std::string_view text,
                            const std::string& pattern) {
  Known known = find_pattern(file, pattern);
  BpeDefinition d;
  d.pattern = known.pattern;
  size_t work = 0;
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = first_line(text);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto require_that = [&](bool ok, const auto&... parts) {
      require<IoError>(ok, kWhere, file, ": line ", number, ": ", parts...);
    };
    if (line.empty()) continue;
    std::optional<Line> entry = parse(line);
    require_that(entry.has_value(), "expected base64 of at most ", kMostTokenBytes,
                 " bytes, a blank and a rank, got something else");
    if (!entry.has_value()) continue;
    require_that(entry->rank < kMostTokens, "expected ranks below ", kMostTokens, ", got ",
                 entry->rank);
    const auto id = static_cast<size_t>(entry->rank);
    if (id >= d.tokens.size()) d.tokens.resize(std::max(id + 1, 2 * d.tokens.size()));
    require_that(d.tokens[id].empty(), "expected each rank once, got ", id, " twice");
    work += entry->bytes.size() * entry->bytes.size();
    require_that(work <= kMostWork, "expected tokens of text, got so many long ones (",
                 entry->bytes.size(), " bytes here) that reading them would take too long");
    d.tokens[id] = std::move(entry->bytes);
  }
  const TokenIds ids(d.tokens);
  for (const std::string& token : d.tokens) {
    if (token.size() < 2) continue;
    const std::optional<BpeDefinition::Merge> merge = last_merge(token, ids);
    if (!merge.has_value()) {
      d.ignore_merges = true;  // only a piece that is the token becomes it
      continue;
    }
    require<IoError>(merge->left >= 0 && merge->right >= 0, kWhere, file,
                     ": expected a rank for each byte of the token '", token,
                     "', got none for one of them, which is not implemented");
    d.merges.push_back(*merge);
  }
  d.added = std::move(known.special);
  return checked(std::move(d), kWhere, file);
}

}  // namespace farfield::data
