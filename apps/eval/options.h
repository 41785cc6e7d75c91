#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "engine/base/did_you_mean.h"

namespace farfield::eval {

/// The command-line options that most protocols share.
struct CommonOptions {
  std::vector<int64_t> lengths = {128, 256, 512, 1024, 2048};
  bool are_lengths_given = false;  ///< else `task` measures the task's own
  /// A forward pass takes at most about this many tokens; 0: as many as memory allows and at most
  /// kMostBatchTokens of batch_memory.h.
  int64_t batch_tokens = 0;
  int64_t max_tokens = 0;    ///< read only the beginning of a text that is read whole; 0: all
  bool allow_fewer = false;  ///< accept fewer segments or chunks than requested
  int64_t draws = 1;         ///< for encodings that draw positions when they are tested
};

/// What to measure: the options that most protocols share, and each protocol's own options, by
/// their type.
struct EvalOptions {
  std::vector<std::string> protocols = {"last-token"};
  std::vector<std::string> baselines = {"none"};  ///< as parse_baseline() reads them
  CommonOptions common;

  /// The options of a protocol: own<SlidingOptions>().stride.
  template <class Own>
  Own& own() {
    std::any& value = own_[typeid(Own)];
    if (!value.has_value()) value = Own();
    return *std::any_cast<Own>(&value);
  }
  template <class Own>
  const Own& own() const {
    static const Own defaults;
    const auto found = own_.find(typeid(Own));
    return found == own_.end() ? defaults : *std::any_cast<Own>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> own_;  // accessed options; the others have their defaults
};

/// Refuses values that no protocol can use: ConfigError [eval:<protocol>] bad_argument (no lengths,
/// batch_tokens or max_tokens below 0) or length_too_short (below 2).
void check_common(std::string_view protocol, const CommonOptions& common);

/// The number of tokens that a protocol over a whole text reads: all, or the first max_tokens.
int64_t whole_text(int64_t text_size, const CommonOptions& common);

/// Refuses a word that is not one of `words`, as ConfigError [eval] bad_argument with the nearest.
void check_word(const char* option, const std::string& value,
                const std::vector<std::string>& words);
[[noreturn]] void refuse_word(const char* option, const std::string& value,
                              const std::vector<std::string>& words,
                              std::span<const Synonym> synonyms = {});
/// Refuses a number below 1, as ConfigError [eval:<protocol>] bad_argument.
void check_positive(std::string_view protocol, const char* option, int64_t value);

/// A count per length, for ProtocolResult::parameters: "320", or "320 (15 at 2048)" if some lengths
/// have fewer than the most.
std::string counts_text(const std::vector<int64_t>& lengths,
                        const std::function<int64_t(int64_t length)>& count);

}  // namespace farfield::eval
