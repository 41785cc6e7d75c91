#include "apps/hub/class_config.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "apps/hub/class_fit.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

using EncodingKind = ExportedEncoding::Kind;

const char* word_of(MlpActivation activation) {
  return activation == MlpActivation::gelu        ? "gelu"
         : activation == MlpActivation::gelu_tanh ? "gelu_pytorch_tanh"
                                                  : "relu";
}

// The share that gives floor(head_dim share) the components that turn, in Python's arithmetic too.
double partial_factor(const ClassFit& fit) {
  const double share = fit.encoding.numbers.at("rotary_pct");
  const auto head_dim = static_cast<double>(fit.model.head_dim());
  const auto n = static_cast<double>(rotated(fit.model.head_dim(), share));
  if (std::floor(head_dim * share) == n) return share;
  double other = n / head_dim;
  while (std::floor(head_dim * other) < n) other = std::nextafter(other, 2.0);
  return other;
}

// The scaling of rotary frequencies; null for plain rope.
Json rope_scaling(const ClassFit& fit) {
  const std::string& rotary = fit.encoding.rotary;
  const auto number = [&](const char* name) { return fit.encoding.numbers.at(name); };
  if (rotary == "rope_linear") return {{"rope_type", "linear"}, {"factor", number("scale")}};
  if (rotary == "rope_dynamic_ntk") return {{"rope_type", "dynamic"}, {"factor", number("factor")}};
  if (rotary == "rope_yarn")
    return {{"rope_type", "yarn"},
            {"factor", number("scale")},
            {"original_max_position_embeddings", std::lround(number("original_length"))},
            {"beta_fast", number("beta_fast")},
            {"beta_slow", number("beta_slow")}};
  if (rotary == "rope_llama3")
    return {{"rope_type", "llama3"},
            {"factor", number("scale")},
            {"low_freq_factor", number("low")},
            {"high_freq_factor", number("high")},
            {"original_max_position_embeddings", std::lround(number("original_length"))}};
  if (rotary == "rope_longrope")
    return {{"rope_type", "longrope"},
            {"factor", number("scale")},
            {"attention_factor", number("attention_factor")},
            {"original_max_position_embeddings", std::lround(number("original_length"))},
            {"long_factor", fit.encoding.lists.at("long_factor")},
            {"short_factor", fit.encoding.lists.at("short_factor")}};
  return nullptr;
}

// Settings of rotation, by the keys of version 5 of the library and by those before.
void add_rope(const ClassFit& fit, const char* theta_key, const char* share_key, Json& config) {
  const bool is_rotary = fit.encoding.kind == EncodingKind::rotary;
  const double theta = is_rotary ? fit.encoding.numbers.at("base") : 10000.0;
  const Json scaling = is_rotary ? rope_scaling(fit) : Json();
  Json parameters = scaling.is_null() ? Json{{"rope_type", "default"}} : scaling;
  parameters["rope_theta"] = theta;
  if (share_key != nullptr) {
    const double share = is_rotary ? partial_factor(fit) : 0.0;
    parameters["partial_rotary_factor"] = share;
    config[share_key] = share;
  }
  config[theta_key] = theta;
  // Versions before 5 look for it here.
  if (is_rotary && fit.encoding.rotary == "rope_longrope")
    config["original_max_position_embeddings"] = scaling["original_max_position_embeddings"];
  config["rope_scaling"] = scaling;
  config["rope_parameters"] = parameters;
}

void fit_gpt_neox(ClassFit& fit) {
  const ModelConfig& m = fit.model;
  fit.needs_layer_norm(true);
  fit.needs_activation({MlpActivation::gelu, MlpActivation::gelu_tanh, MlpActivation::relu});
  fit.needs_plain_heads();
  fit.needs_embedding_norm(false);
  fit.needs_biases(m.has_dense_bias, m.has_dense_bias, true);
  fit.needs(fit.encoding.window == 0 && ((fit.encoding.kind == EncodingKind::rotary &&
                                          is_on_all_layers(fit.encoding.rotates, true)) ||
                                         fit.encoding.kind == EncodingKind::none),
            fit.encoding.text);
}

Json config_of_gpt_neox(const ClassFit& fit) {
  const ModelConfig& m = fit.model;
  Json config = {{"vocab_size", m.vocab_size},
                 {"hidden_size", m.d_model},
                 {"num_hidden_layers", m.n_layer},
                 {"num_attention_heads", m.n_head},
                 {"intermediate_size", m.d_ff},
                 {"hidden_act", word_of(m.activation)},
                 {"max_position_embeddings", context_length(fit.model, fit.encoding)},
                 {"use_parallel_residual", m.is_parallel},
                 {"layer_norm_eps", m.ln_eps},
                 {"attention_bias", m.has_qkv_bias},
                 {"attention_dropout", 0.0},
                 {"hidden_dropout", 0.0}};
  add_rope(fit, "rotary_emb_base", "rotary_pct", config);
  return config;
}

void fit_gpt2(ClassFit& fit) {
  fit.needs_layer_norm(true);
  fit.needs_activation({MlpActivation::gelu, MlpActivation::gelu_tanh, MlpActivation::relu});
  fit.needs_plain_heads();
  fit.needs_embedding_norm(false);
  fit.needs_sequential_blocks();
  fit.needs_biases(true, true, true);
  fit.needs_encoding(EncodingKind::learned);
}

Json config_of_gpt2(const ClassFit& fit) {
  const ModelConfig& m = fit.model;
  return {{"vocab_size", m.vocab_size},
          {"n_positions", fit.encoding.n_position},
          {"n_embd", m.d_model},
          {"n_layer", m.n_layer},
          {"n_head", m.n_head},
          {"n_inner", m.d_ff},
          {"activation_function", word_of(m.activation)},
          {"layer_norm_epsilon", m.ln_eps},
          {"scale_attn_weights", true},
          {"scale_attn_by_inverse_layer_idx", false},
          {"attn_pdrop", 0.0},
          {"embd_pdrop", 0.0},
          {"resid_pdrop", 0.0}};
}

void fit_bloom(ClassFit& fit) {
  fit.needs_layer_norm(true);
  fit.needs_activation({MlpActivation::gelu_tanh});
  fit.needs_plain_heads();
  fit.needs_embedding_norm(true);
  fit.needs_sequential_blocks();
  fit.needs_biases(true, true, true);
  fit.needs_inner_width();
  fit.needs_encoding(EncodingKind::alibi);
}

Json config_of_bloom(const ClassFit& fit) {
  const ModelConfig& m = fit.model;
  return {{"vocab_size", m.vocab_size},
          {"hidden_size", m.d_model},
          {"n_layer", m.n_layer},
          {"n_head", m.n_head},
          {"seq_length", m.train_len},
          {"layer_norm_epsilon", m.ln_eps},
          {"apply_residual_connection_post_layernorm", false},
          {"attention_dropout", 0.0},
          {"hidden_dropout", 0.0}};
}

void fit_mpt(ClassFit& fit) {
  fit.needs_layer_norm(false);
  fit.needs_activation({MlpActivation::gelu});
  fit.needs_plain_heads();
  fit.needs_embedding_norm(false);
  fit.needs_sequential_blocks();
  fit.needs_biases(false, false, false);
  fit.needs_inner_width();
  fit.needs_encoding(EncodingKind::alibi);
}

Json config_of_mpt(const ClassFit& fit) {
  const ModelConfig& m = fit.model;
  return {{"vocab_size", m.vocab_size},
          {"d_model", m.d_model},
          {"n_layers", m.n_layer},
          {"n_heads", m.n_head},
          {"expansion_ratio", 4},
          {"max_seq_len", m.train_len},
          {"layer_norm_epsilon", m.ln_eps},
          {"no_bias", true},
          {"learned_pos_emb", false},
          {"logit_scale", nullptr},
          {"emb_pdrop", 0.0},
          {"resid_pdrop", 0.0},
          {"attn_config",
           {{"attn_type", "multihead_attention"},
            {"alibi", true},
            {"alibi_bias_max", 8},
            {"attn_pdrop", 0},  // whole: the library checks the type
            {"clip_qkv", nullptr},
            {"softmax_scale", nullptr},
            {"qk_ln", false},
            {"prefix_lm", false},
            {"attn_uses_sequence_id", false}}}};
}

// What Llama and its like have in common.
void fit_like_llama(ClassFit& fit) {
  fit.needs_llama_blocks();
  const bool is_rotary = fit.encoding.kind == EncodingKind::rotary;
  fit.needs(is_rotary || fit.encoding.kind == EncodingKind::none, fit.encoding.text);
  if (is_rotary) fit.needs(fit.encoding.numbers.at("rotary_pct") == 1, "a rotary_pct below 1");
}

Json config_like_llama(const ClassFit& fit) {
  const ModelConfig& m = fit.model;
  Json config = {{"vocab_size", m.vocab_size},
                 {"hidden_size", m.d_model},
                 {"intermediate_size", m.d_ff},
                 {"num_hidden_layers", m.n_layer},
                 {"num_attention_heads", m.n_head},
                 {"num_key_value_heads", m.heads().n_kv_head},
                 {"head_dim", m.head_dim()},
                 {"hidden_act", "silu"},
                 {"max_position_embeddings", context_length(fit.model, fit.encoding)},
                 {"rms_norm_eps", m.ln_eps},
                 {"attention_dropout", 0.0}};
  add_rope(fit, "rope_theta", nullptr, config);
  return config;
}

void fit_llama(ClassFit& fit) {
  fit_like_llama(fit);
  fit.needs_rotation_everywhere();
  fit.needs(fit.encoding.window == 0, "a window");
  fit.needs_biases(fit.model.has_dense_bias, fit.model.has_dense_bias, fit.model.has_mlp_bias);
}

Json config_of_llama(const ClassFit& fit) {
  Json config = config_like_llama(fit);
  config["attention_bias"] = fit.model.has_qkv_bias;
  config["mlp_bias"] = fit.model.has_mlp_bias;
  return config;
}

void fit_mistral(ClassFit& fit) {
  fit_like_llama(fit);
  fit.needs_rotation_everywhere();
  fit.needs(is_on_all_layers(fit.encoding.slides, fit.encoding.window > 0),
            "layers without a window");
  fit.needs_biases(false, false, false);
}

Json config_of_mistral(const ClassFit& fit) {
  Json config = config_like_llama(fit);
  config["sliding_window"] = fit.encoding.window > 0 ? Json(fit.encoding.window) : Json();
  return config;
}

// The layers with a window, where a class has a word for each layer.
void add_layer_types(const ClassFit& fit, Json& config) {
  config["use_sliding_window"] = fit.encoding.window > 0;
  config["sliding_window"] = fit.encoding.window > 0 ? Json(fit.encoding.window) : Json();
  Json types = Json::array();
  for (const bool slides : fit.encoding.slides)
    types.push_back(slides ? "sliding_attention" : "full_attention");
  config["layer_types"] = types;
}

void fit_qwen2(ClassFit& fit) {
  fit_like_llama(fit);
  fit.needs_rotation_everywhere();
  fit.needs_biases(true, false, false);
}

Json config_of_qwen2(const ClassFit& fit) {
  Json config = config_like_llama(fit);
  add_layer_types(fit, config);
  return config;
}

void fit_smollm3(ClassFit& fit) {
  fit_like_llama(fit);
  fit.needs_biases(fit.model.has_dense_bias, fit.model.has_dense_bias, fit.model.has_mlp_bias);
}

Json config_of_smollm3(const ClassFit& fit) {
  Json config = config_of_llama(fit);
  add_layer_types(fit, config);
  Json rotates = Json::array();
  for (const bool rotates_here : fit.encoding.rotates) rotates.push_back(rotates_here ? 1 : 0);
  config["no_rope_layers"] = rotates;
  return config;
}

struct StockClass {
  const char* name;
  const char* model_type;
  void (*fit)(ClassFit&);
  Json (*config)(const ClassFit&);
};
// The first that fits is taken.
constexpr StockClass kClasses[] = {
    {"LlamaForCausalLM", "llama", fit_llama, config_of_llama},
    {"MistralForCausalLM", "mistral", fit_mistral, config_of_mistral},
    {"Qwen2ForCausalLM", "qwen2", fit_qwen2, config_of_qwen2},
    {"SmolLM3ForCausalLM", "smollm3", fit_smollm3, config_of_smollm3},
    {"GPTNeoXForCausalLM", "gpt_neox", fit_gpt_neox, config_of_gpt_neox},
    {"GPT2LMHeadModel", "gpt2", fit_gpt2, config_of_gpt2},
    {"BloomForCausalLM", "bloom", fit_bloom, config_of_bloom},
    {"MptForCausalLM", "mpt", fit_mpt, config_of_mpt}};

// What none of them has.
void require_parts(const ModelConfig& m) {
  const auto refuse_if = [](bool has, const char* what) {
    require<NoClass>(!has, "hub", "no class of transformers has ", what,
                     ": expected a model that one of them computes");
  };
  refuse_if(m.sees_later, "attention to later tokens (an encoder) in these blocks");
  refuse_if(m.is_adaptive(), "an adaptive input and softmax in these blocks");
  refuse_if(!m.has_final_norm, "no norm before the head");
  refuse_if(m.scales_embedding, "embeddings times sqrt(d_model) in these blocks");
}

std::string config_text(const StockClass& stock, const ClassFit& fit, const ConfigNotes& notes) {
  Json config = {{"architectures", {stock.name}}, {"model_type", stock.model_type}};
  config.update(stock.config(fit));
  add_notes(fit.model, notes, config);
  return write_json(config, 2) + "\n";
}

}  // namespace

void add_notes(const ModelConfig& model, const ConfigNotes& notes, Json& config) {
  const auto id = [](const std::optional<int32_t>& token) { return token ? Json(*token) : Json(); };
  const char* const dtype = notes.dtype == DType::bf16 ? "bfloat16" : "float32";
  config["tie_word_embeddings"] = model.ties_embedding;
  config["initializer_range"] = model.init_std;
  config["bos_token_id"] = id(notes.begin_of_text);
  config["eos_token_id"] = id(notes.end_of_text);
  config["pad_token_id"] = nullptr;
  config["dtype"] = dtype;
  config["torch_dtype"] = dtype;
  config["use_cache"] = true;
}

ModelClass model_class(const ModelConfig& model, const ExportedEncoding& encoding,
                       const ConfigNotes& notes) {
  require_parts(model);
  std::multimap<size_t, std::string> lines;  // the nearest class first
  for (const StockClass& stock : kClasses) {
    ClassFit fit{model, encoding};
    stock.fit(fit);
    if (fit.obstacles.empty())
      return {stock.name, stock.model_type, config_text(stock, fit, notes)};
    lines.emplace(fit.obstacles.size(), concat("\n  ", stock.name, ": ", joined(fit.obstacles)));
  }
  std::string text;
  for (const auto& line : lines) text += line.second;
  fail<NoClass>("hub", "no class of transformers computes this model. What it has otherwise than",
                text);
}

}  // namespace farfield::hub
