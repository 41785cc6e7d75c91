#include "apps/run/architecture.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "apps/cli/option.h"
#include "apps/run/option_words.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "architecture";
constexpr const char* kOption = "--architecture";

const std::vector<Word<NormKind>> kNorms = {{"layer", NormKind::layer}, {"rms", NormKind::rms}};
const std::vector<Word<MlpActivation>> kMlps = {{"gelu", MlpActivation::gelu},
                                                {"gelu_tanh", MlpActivation::gelu_tanh},
                                                {"relu", MlpActivation::relu},
                                                {"swiglu", MlpActivation::swiglu}};

// The layers that may have biases.
struct Biased {
  const char* word;
  bool ModelConfig::*has;
};
constexpr Biased kBiased[] = {{"qkv", &ModelConfig::has_qkv_bias},
                              {"dense", &ModelConfig::has_dense_bias},
                              {"mlp", &ModelConfig::has_mlp_bias},
                              {"norm", &ModelConfig::has_norm_bias}};
// Switches, and the value that each stands for.
struct Switch {
  const char* word;
  bool ModelConfig::*part;
  bool value;
};
constexpr Switch kSwitches[] = {{"parallel", &ModelConfig::is_parallel, true},
                                {"tied", &ModelConfig::ties_embedding, true},
                                {"embedding-norm", &ModelConfig::has_embedding_norm, true},
                                {"no-final-norm", &ModelConfig::has_final_norm, false},
                                {"scaled-embedding", &ModelConfig::scales_embedding, true}};

template <class T>
const char* word_of(const std::vector<Word<T>>& words, T value) {
  return std::find_if(words.begin(), words.end(),
                      [&](const Word<T>& word) { return word.value == value; })
      ->word;
}

void read_biases(const std::string& text, ModelConfig& model) {
  for (const Biased& one : kBiased) model.*one.has = text == "all";
  if (text == "all" || text == "none") return;
  std::vector<std::string> known;
  for (const Biased& one : kBiased) known.emplace_back(one.word);
  std::string list = text;
  std::replace(list.begin(), list.end(), '+', ',');
  for (const std::string& word : cli::split_list(list))
    model.*kBiased[place_of_word("--architecture bias", word, known)].has = true;
}

// RMS norms have none.
std::string biases_of(const ModelConfig& model) {
  std::vector<std::string> words;
  for (const Biased& one : kBiased)
    if (model.*one.has && (one.has != &ModelConfig::has_norm_bias || model.has_norm_biases()))
      words.emplace_back(one.word);
  return words.size() == std::size(kBiased) ? "all" : words.empty() ? "none" : joined(words, "+");
}

using Read = std::function<void(const std::string& value, ModelConfig& model)>;

// The keys with a value.
const std::vector<std::pair<std::string, Read>>& keys() {
  const auto number = [](const char* name, auto ModelConfig::*part) -> Read {
    return [name, part](const std::string& value, ModelConfig& model) {
      cli::read_value(concat(kOption, ": ", name), value, model.*part);
    };
  };
  static const std::vector<std::pair<std::string, Read>> all = {
      {"norm",
       [](const std::string& value, ModelConfig& model) {
         model.norm = value_of_word("--architecture norm", value, kNorms);
       }},
      {"norm-eps", number("norm-eps", &ModelConfig::ln_eps)},
      {"mlp",
       [](const std::string& value, ModelConfig& model) {
         model.activation = value_of_word("--architecture mlp", value, kMlps);
       }},
      {"kv-heads", number("kv-heads", &ModelConfig::n_kv_head)},
      {"head-dim", number("head-dim", &ModelConfig::d_head)},
      {"bias", read_biases}};
  return all;
}

struct Family {
  std::string_view name;
  const char* words;
};
constexpr Family kFamilies[] = {{"neox", ""},
                                {"llama", "norm=rms,mlp=swiglu,bias=none"},
                                {"qwen2", "norm=rms,mlp=swiglu,bias=qkv"},
                                {"bloom", "mlp=gelu_tanh,embedding-norm,tied"},
                                {"mpt", "bias=none,tied"},
                                {"gpt2", "mlp=gelu_tanh,tied"}};

// Applies words to what the model has already.
void apply(const std::string& text, ModelConfig& model) {
  std::vector<std::string> known, seen;
  for (const Family& family : kFamilies) known.emplace_back(family.name);
  for (const auto& [key, read] : keys()) known.push_back(key);
  for (const Switch& one : kSwitches) known.emplace_back(one.word);
  for (const std::string& word : cli::split_list(text)) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    require<ConfigError>(std::find(seen.begin(), seen.end(), key) == seen.end(), kWhere,
                         "expected '", key, "' once, got it twice in '", text, "'");
    seen.push_back(key);
    const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                     [&](const Family& one) { return one.name == word; });
    if (family != std::end(kFamilies)) {
      require<ConfigError>(seen.size() == 1, kWhere, "expected '", word, "' as the first word of '",
                           text, "'");
      if (*family->words != 0) apply(family->words, model);
      continue;
    }
    const auto has_key = [&](const auto& row) { return row.first == key; };
    const auto of_key = std::find_if(keys().begin(), keys().end(), has_key);
    const auto of_word = std::find_if(std::begin(kSwitches), std::end(kSwitches),
                                      [&](const Switch& one) { return one.word == key; });
    const bool has_value = equals != std::string::npos;
    require<ConfigError>(of_key != keys().end() || of_word != std::end(kSwitches), kWhere,
                         "expected words out of ", joined(known, ", "), ", got '", word, "'",
                         did_you_mean(key, known));
    require<ConfigError>(has_value == (of_key != keys().end()), kWhere, "expected '", key,
                         has_value ? "' without a value, got '" : "=VALUE', got '", word, "'");
    if (has_value)
      of_key->second(word.substr(equals + 1), model);
    else
      model.*of_word->part = of_word->value;
  }
}

}  // namespace

void set_architecture(const std::string& text, ModelConfig& model) {
  const ModelConfig usual;
  model.n_kv_head = usual.n_kv_head;
  model.d_head = usual.d_head;
  model.norm = usual.norm;
  model.ln_eps = usual.ln_eps;
  model.activation = usual.activation;
  for (const Biased& one : kBiased) model.*one.has = true;
  for (const Switch& one : kSwitches) model.*one.part = !one.value;
  apply(text, model);
}
std::vector<std::string> architecture_families() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.name);
  return names;
}

std::string architecture_of(const ModelConfig& model) {
  const ModelConfig usual;
  std::vector<std::string> words;
  const auto add = [&](bool differs, const auto&... parts) {
    if (differs) words.push_back(concat(parts...));
  };
  add(model.norm != usual.norm, "norm=", word_of(kNorms, model.norm));
  add(model.ln_eps != usual.ln_eps, "norm-eps=", cli::number(model.ln_eps));
  add(model.activation != usual.activation, "mlp=", word_of(kMlps, model.activation));
  add(model.n_kv_head != usual.n_kv_head, "kv-heads=", model.n_kv_head);
  add(model.d_head != usual.d_head, "head-dim=", model.d_head);
  add(biases_of(model) != "all", "bias=", biases_of(model));
  for (const Switch& one : kSwitches) add(model.*one.part == one.value, one.word);
  return words.empty() ? "neox" : joined(words, ",");
}

}  // namespace farfield::run
