#include "data/tokenizers/end_of_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "data/tokenizer.h"
#include "data/tokenizers/token_ids.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

// An id that a file has recorded.
int32_t recorded_end(const BpeDefinition& d, int32_t id) {
  const auto is_it = [&](const AddedToken& t) { return t.id == id; };
  const bool is_token = (id >= 0 && static_cast<size_t>(id) < d.tokens.size() &&
                         !d.tokens[static_cast<size_t>(id)].empty()) ||
                        std::any_of(d.added.begin(), d.added.end(), is_it);
  require<IoError>(is_token, "tokenizer", "expected the id of a token to end documents with, got ",
                   id);
  return id;
}

}  // namespace

int32_t find_end_of_text(const BpeDefinition& d, const TokenizerOptions& options) {
  if (options.end_of_document) return recorded_end(d, *options.end_of_document);
  const std::string& asked = options.end_of_text;
  const auto id_of = [&](std::string_view content) {
    const auto found = std::find_if(d.added.begin(), d.added.end(),
                                    [&](const AddedToken& t) { return t.content == content; });
    return found == d.added.end() ? -1 : found->id;
  };
  if (!asked.empty()) {
    int32_t id = id_of(asked);
    if (id < 0) id = TokenIds(d.tokens).find(asked);
    require<ConfigError>(id >= 0, "tokenizer", "expected --end-of-text to name a token, got '",
                         asked, "'");
    return id;
  }
  constexpr std::string_view kFirst = "<|endoftext|>";
  if (const int32_t id = id_of(kFirst); id >= 0) return id;
  constexpr std::array<std::string_view, 4> kOthers = {"</s>", "<|end_of_text|>", "<eos>", "[EOS]"};
  std::vector<std::string_view> found;
  for (const std::string_view name : kOthers)
    if (id_of(name) >= 0) found.push_back(name);
  require<ConfigError>(found.size() <= 1, "tokenizer", "expected one added token among ", kFirst,
                       ", ", listed(kOthers, " and "), " to end documents with, got ",
                       joined(found), "; name the token with --end-of-text TOKEN");
  return found.empty() ? Tokenizer::kNone : id_of(found.front());
}

}  // namespace farfield::data
