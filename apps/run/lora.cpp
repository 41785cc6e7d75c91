#include "apps/run/lora.h"

#include <algorithm>
#include <map>
#include <vector>

#include "apps/cli/option.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "lora";
const std::vector<std::string> kKeys = {"rank", "alpha", "targets", "dropout", "rslora", "dora"};

}  // namespace

AdapterConfig parse_lora(const std::string& text) {
  std::map<std::string, std::vector<std::string>> values;
  std::string key;
  for (const std::string& word : cli::split_list(text)) {
    const size_t equals = word.find('=');
    const bool is_switch = word == "rslora" || word == "dora",
               is_key = is_switch || equals != std::string::npos;
    if (is_key) {
      key = word.substr(0, equals);
      require<ConfigError>(values.count(key) == 0, kWhere, "expected '", key,
                           "' once, got it twice in '", text, "'");
    }
    static constexpr Synonym kSynonyms[] = {
        {"r", "rank"}, {"lora_alpha", "alpha"}, {"target_modules", "targets"}};
    require<ConfigError>(std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end(), kWhere,
                         "expected KEY=VALUE,... with keys ", joined(kKeys, ", "), ", got '",
                         is_key ? key : word, "'", did_you_mean(key, kKeys, kSynonyms));
    if (is_switch) {
      values[key] = {"true"};
      key.clear();  // no list goes on behind it
    } else {
      values[key].push_back(is_key ? word.substr(equals + 1) : word);
    }
  }
  AdapterConfig config;
  const auto read = [&](const char* name, auto& value) {
    const auto found = values.find(name);
    if (found == values.end()) return false;
    require<ConfigError>(found->second.size() == 1, kWhere, name, ": expected one value, got ",
                         found->second.size());
    cli::read_value(concat("--lora: ", name), found->second.front(), value);
    return true;
  };
  read("rank", config.rank);
  if (!read("alpha", config.alpha)) config.alpha = 2 * static_cast<double>(config.rank);
  read("dropout", config.dropout);
  read("rslora", config.is_rank_stabilized);
  read("dora", config.has_magnitudes);
  if (const auto found = values.find("targets"); found != values.end())
    config.targets = found->second;
  validate(config);
  return config;
}

std::string to_text(const AdapterConfig& config) {
  std::string text = concat("rank=", config.rank, ",alpha=", cli::number(config.alpha),
                            ",targets=", joined(config.targets, ","));
  if (config.dropout > 0) text += concat(",dropout=", cli::number(config.dropout));
  if (config.is_rank_stabilized) text += ",rslora";
  if (config.has_magnitudes) text += ",dora";
  return text;
}

}  // namespace farfield::run
