#include "apps/eval/baseline.h"

#include <charconv>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::eval {
namespace {

constexpr const char* kWords[] = {"none", "masked", "truncated"};

}  // namespace

std::string Baseline::label() const {
  return kind == Kind::none ? "" : concat(kWords[static_cast<int>(kind)], '@', window);
}

Baseline parse_baseline(const std::string& name) {
  if (name == kWords[0]) return {};
  const auto refuse = [&] {
    fail<ConfigError>("eval", "bad_argument: --baseline: expected none, masked@W or truncated@W ",
                      "with a window of W >= 1 tokens, got '", name, "'");
  };
  const size_t at = name.find('@');
  const std::string word = name.substr(0, at);
  Baseline baseline;
  if (word == kWords[1])
    baseline.kind = Baseline::Kind::masked;
  else if (word == kWords[2])
    baseline.kind = Baseline::Kind::truncated;
  if (baseline.kind == Baseline::Kind::none || at == std::string::npos) refuse();
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + at + 1, end, baseline.window);
  if (error != std::errc() || stop != end || baseline.window < 1) refuse();
  return baseline;
}

std::string warning_of(const Baseline& baseline, const std::vector<int64_t>& lengths) {
  if (baseline.kind == Baseline::Kind::none) return "";
  std::vector<int64_t> whole;
  for (const int64_t length : lengths)
    if (length <= baseline.window) whole.push_back(length);
  return whole.empty() ? ""
                       : concat(baseline.label(), " is the model as it is at length ",
                                joined(whole), ": the window hides nothing there");
}

}  // namespace farfield::eval
