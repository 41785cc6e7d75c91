#include "apps/sweep/placeholders.h"

#include <cstdlib>

namespace farfield::sweep {
namespace {

// The number for a name in braces; 0: unknown name.
int64_t amount_named(Scale scale, int64_t unit, const std::string& name) {
  const Profile& p = profile_of(scale);
  if (name == "cached segments") return p.cached_segments;
  if (name == "chunks") return p.chunks;
  if (name.ends_with(" sequences"))
    return sequences_of(scale, unit, std::strtoll(name.c_str(), nullptr, 10));
  return 0;
}

}  // namespace

std::string with_tokens(Scale scale, int64_t unit, const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t open = text.find('{', i);
    const size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return result + text.substr(i);
    const std::string inside = text.substr(open + 1, close - open - 1);
    const int64_t of = amount_named(scale, unit, inside);
    result += text.substr(i, open - i) +
              std::to_string(of > 0 ? of : tokens_of(unit, std::strtod(inside.c_str(), nullptr)));
    i = close + 1;
  }
  return result;
}

}  // namespace farfield::sweep
