#include "apps/hub/gguf_added_tokens.h"

#include <algorithm>
#include <string_view>

namespace farfield::hub {
namespace {

struct Taken {
  size_t begin, size;
  bool operator==(const Taken&) const = default;
};

std::vector<Taken> leftmost_first(std::string_view text, const std::vector<std::string>& tokens) {
  std::vector<Taken> taken;
  for (size_t at = 0; at < text.size();) {
    size_t longest = 0;
    for (const std::string& token : tokens)
      if (text.substr(at).starts_with(token)) longest = std::max(longest, token.size());
    if (longest > 0) taken.push_back({at, longest});
    at += std::max<size_t>(longest, 1);
  }
  return taken;
}

// `tokens`: in the order in which they are looked for.
std::vector<Taken> in_order(std::string_view text, const std::vector<std::string>& tokens) {
  std::vector<Taken> taken;
  std::string left(text);  // zero: taken
  for (const std::string& token : tokens) {
    for (size_t at = left.find(token); at != left.npos; at = left.find(token, at + token.size())) {
      taken.push_back({at, token.size()});
      left.replace(at, token.size(), token.size(), '\0');
    }
  }
  std::sort(taken.begin(), taken.end(),
            [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
  return taken;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> differently_taken(
    const std::vector<std::string>& added) {
  std::vector<std::string> tokens = added;
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::string& first : tokens) {
    for (size_t i = 0; i < tokens.size() && tokens[i].size() >= first.size(); ++i) {
      const std::string& second = tokens[i];
      if (second == first) continue;
      for (size_t n = 1; n < first.size(); ++n) {
        if (!std::string_view(second).starts_with(std::string_view(first).substr(first.size() - n)))
          continue;
        const std::string text = first + second.substr(n);
        // Of tokens of one size, any may be looked for first: here it is the second.
        std::vector<std::string> order = tokens;
        const auto same_size =
            std::find_if(order.begin(), order.end(),
                         [&](const std::string& token) { return token.size() == second.size(); });
        std::iter_swap(same_size, order.begin() + static_cast<std::ptrdiff_t>(i));
        if (leftmost_first(text, tokens) != in_order(text, order)) return std::pair(first, second);
      }
    }
  }
  return std::nullopt;
}

}  // namespace farfield::hub
