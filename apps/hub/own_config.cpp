#include "apps/hub/own_config.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/hub/own_class.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

constexpr std::pair<const char*, MlpActivation> kActivations[] = {
    {"gelu", MlpActivation::gelu},
    {"gelu_pytorch_tanh", MlpActivation::gelu_tanh},
    {"relu", MlpActivation::relu},
    {"silu", MlpActivation::swiglu}};

// Parts that a model has or lacks.
constexpr std::pair<const char*, bool ModelConfig::*> kParts[] = {
    {"norm_bias", &ModelConfig::has_norm_bias},
    {"qkv_bias", &ModelConfig::has_qkv_bias},
    {"dense_bias", &ModelConfig::has_dense_bias},
    {"mlp_bias", &ModelConfig::has_mlp_bias},
    {"parallel_residual", &ModelConfig::is_parallel},
    {"embedding_norm", &ModelConfig::has_embedding_norm},
    {"final_norm", &ModelConfig::has_final_norm},
    {"scaled_embedding", &ModelConfig::scales_embedding},
    {"tie_word_embeddings", &ModelConfig::ties_embedding}};

constexpr std::pair<const char*, int64_t ModelConfig::*> kSizes[] = {
    {"vocab_size", &ModelConfig::vocab_size},      {"hidden_size", &ModelConfig::d_model},
    {"intermediate_size", &ModelConfig::d_ff},     {"num_hidden_layers", &ModelConfig::n_layer},
    {"num_attention_heads", &ModelConfig::n_head}, {"band_divisor", &ModelConfig::band_divisor},
    {"train_length", &ModelConfig::train_len}};

// Whether an argument is "@file", which would be read from this machine; "@" behind a term names
// its layers.
bool reads_a_file(std::string_view expression) {
  char before = ' ';
  for (const char c : expression) {
    if (c == '@' && (before == '(' || before == '=' || before == ',')) return true;
    if (c != ' ' && c != '\t' && c != '\n') before = c;
  }
  return false;
}

Json shape_of(const Tensor& tensor) {
  Json shape = Json::array();
  for (int dim = 0; dim < tensor.rank(); ++dim) shape.push_back(tensor.dim(dim));
  return shape;
}

Json rule_of(const RuleTables& rule) {
  Json tables = Json::object();
  for (const auto& [use, name] : rule.tables) tables[use] = name;
  return {{"tables", tables},
          {"interleaved", rule.interleaved},
          {"window", rule.window},
          {"sinks", rule.sinks},
          {"switch_distance", rule.switch_distance},
          {"switch_position", rule.switch_position},
          {"normalizer",
           {{"kind", rule.normalizer},
            {"parameter", rule.normalizer_parameter},
            {"block", rule.landmark_block}}}};
}

Json description_of(const ModelConfig& model, const posenc::Composition& encoding,
                    const EncodingTables& tables) {
  const bool is_scaled = tables.token_scale == 1 && model.scales_embedding;
  Json made = {{"token_scale",
                is_scaled ? std::sqrt(static_cast<double>(model.d_model)) : tables.token_scale},
               {"embedding", tables.embedding.empty() ? Json() : Json(tables.embedding)},
               {"tables", Json::object()},
               {"rules", Json::array()},
               {"layers", tables.rule_of_layer},
               {"parameters", Json::object()}};
  for (const auto& [name, table] : tables.tensors)
    made["tables"][name] = {{"shape", shape_of(table)},
                            {"dtype", table.dtype() == DType::i32 ? "int32" : "float32"}};
  for (const RuleTables& rule : tables.rules) made["rules"].push_back(rule_of(rule));
  for (const Parameter& p : encoding.parameters())
    made["parameters"][posenc::checkpoint_name(p.name)] = shape_of(p.value);
  return made;
}

}  // namespace

std::string own_config(const ModelConfig& model, const posenc::Composition& encoding,
                       const EncodingTables& tables, const ConfigNotes& notes) {
  Json config = {{"architectures", {kOwnClass}},
                 {"model_type", kOwnType},
                 {"auto_map",
                  {{"AutoConfig", "configuration_farfield.FarfieldConfig"},
                   {"AutoModel", "modeling_farfield.FarfieldModel"},
                   {"AutoModelForCausalLM", concat("modeling_farfield.", kOwnClass)}}}};
  for (const auto& [key, size] : kSizes) config[key] = model.*size;
  config["num_key_value_heads"] = model.heads().n_kv_head;
  config["head_dim"] = model.head_dim();
  for (const auto& [word, activation] : kActivations)
    if (activation == model.activation) config["hidden_act"] = word;
  config["norm"] = model.norm == NormKind::rms ? "rms" : "layer";
  config["norm_eps"] = model.ln_eps;
  for (const auto& [key, part] : kParts) config[key] = model.*part;
  config["norm_bias"] = model.has_norm_biases();
  config["cutoffs"] = model.cutoffs;
  config["max_position_embeddings"] = tables.length;
  config["posenc"] = encoding.canonical();
  config["encoding"] = description_of(model, encoding, tables);
  add_notes(model, notes, config);
  return write_json(config, 2) + "\n";
}

Architecture read_own_config(ConfigReader& config) {
  Architecture a;
  ModelConfig& m = a.model;
  for (const auto& [key, part] : kSizes) m.*part = config.size(key);
  const int64_t n_kv_head = config.size("num_key_value_heads"), head_dim = config.size("head_dim");
  m.n_kv_head = n_kv_head == m.n_head ? 0 : n_kv_head;
  m.d_head = head_dim * m.n_head == m.d_model ? 0 : head_dim;
  const std::string act = config.word("hidden_act"), norm = config.word("norm");
  const auto activation = std::find_if(std::begin(kActivations), std::end(kActivations),
                                       [&](const auto& row) { return act == row.first; });
  if (activation == std::end(kActivations))
    config.refuse("hidden_act", "gelu, gelu_pytorch_tanh, relu or silu");
  m.activation = activation->second;
  if (norm != "rms" && norm != "layer") config.refuse("norm", "layer or rms");
  m.norm = norm == "rms" ? NormKind::rms : NormKind::layer;
  m.ln_eps = config.positive("norm_eps");
  for (const auto& [key, part] : kParts) m.*part = config.flag(key);
  m.cutoffs = config.wholes("cutoffs");
  if (m.band_divisor != ModelConfig().band_divisor)
    config.refuse("band_divisor", concat(ModelConfig().band_divisor));
  m.posenc = config.word("posenc");
  if (reads_a_file(m.posenc)) config.refuse("posenc", "an expression without @file");
  // The tables follow from the expression and the learned values; `dtype` is of the weights.
  config.ignore({"auto_map", "encoding", "max_position_embeddings"});
  return a;
}

}  // namespace farfield::hub
