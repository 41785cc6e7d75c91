#include "layers/adapter_config.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "lora";

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void check_words(const char* name, const std::vector<std::string>& words,
                 const std::vector<std::string>& known) {
  std::set<std::string> seen;
  for (const std::string& word : words) {
    require<ConfigError>(has(known, word), kWhere, name, ": expected some of ", joined(known, ", "),
                         ", got '", word, "'", did_you_mean(word, known));
    require<ConfigError>(seen.insert(word).second, kWhere, name, ": expected '", word,
                         "' once, got it twice");
  }
}

}  // namespace

const std::vector<std::string>& adapter_targets() {
  static const std::vector<std::string> all = {"q",    "k",  "v",    "dense",
                                               "gate", "up", "down", "head"};
  return all;
}

const std::vector<std::string>& trainable_kinds() {
  static const std::vector<std::string> all = {"norms", "posenc", "embedding", "head"};
  return all;
}

double AdapterConfig::scale() const {
  const auto r = static_cast<double>(rank);
  return alpha / (is_rank_stabilized ? std::sqrt(r) : r);
}

bool AdapterConfig::has_target(const std::string& name) const { return has(targets, name); }
bool AdapterConfig::trains(const std::string& kind) const { return has(also, kind); }

void validate(const AdapterConfig& config) {
  constexpr int64_t kMostRank = int64_t{1} << 16;
  require<ConfigError>(config.rank >= 1 && config.rank <= kMostRank, kWhere, "rank: expected 1 to ",
                       kMostRank, ", got ", config.rank);
  require<ConfigError>(std::isfinite(config.alpha) && config.alpha > 0, kWhere,
                       "alpha: expected a finite number above 0, got ", config.alpha);
  require<ConfigError>(config.dropout >= 0 && config.dropout < 1, kWhere,
                       "dropout: expected a share from 0 to below 1, got ", config.dropout);
  require<ConfigError>(!config.targets.empty(), kWhere, "targets: expected at least one of ",
                       joined(adapter_targets(), ", "));
  check_words("targets", config.targets, adapter_targets());
  check_words("train-also", config.also, trainable_kinds());
  require<ConfigError>(!config.has_target("head") || !config.trains("head"), kWhere,
                       "expected 'head' among the targets or in train-also, got both");
}

}  // namespace farfield
