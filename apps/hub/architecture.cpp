#include "apps/hub/architecture.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "apps/cli/option.h"
#include "apps/hub/config_reader.h"
#include "apps/hub/encoding_config.h"
#include "apps/hub/own_config.h"
#include "apps/hub/rope_setting.h"
#include "data/tokenizers/bpe_definition.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/registry.h"

namespace farfield::hub {
namespace {

MlpActivation activation(ConfigReader& config, const std::string& key, const char* otherwise) {
  const std::string name = config.word(key, otherwise);
  if (name == "gelu") return MlpActivation::gelu;
  if (name == "gelu_new" || name == "gelu_fast" || name == "gelu_pytorch_tanh")
    return MlpActivation::gelu_tanh;
  if (name == "relu") return MlpActivation::relu;
  config.refuse(key, "gelu, gelu_new, gelu_fast, gelu_pytorch_tanh or relu");
}

// What the library writes for every model: how to generate, how to train, who made the file.
void ignore_general(ConfigReader& config) {
  config.ignore({"architectures",
                 "bad_words_ids",
                 "begin_suppress_tokens",
                 "bos_token_id",
                 "chunk_size_feed_forward",
                 "decoder_start_token_id",
                 "diversity_penalty",
                 "do_sample",
                 "early_stopping",
                 "encoder_no_repeat_ngram_size",
                 "eos_token_id",
                 "exponential_decay_length_penalty",
                 "finetuning_task",
                 "forced_bos_token_id",
                 "forced_eos_token_id",
                 "gradient_checkpointing",
                 "id2label",
                 "initializer_range",
                 "is_decoder",
                 "is_encoder_decoder",
                 "is_llama_config",
                 "label2id",
                 "length_penalty",
                 "max_length",
                 "min_length",
                 "no_repeat_ngram_size",
                 "num_beam_groups",
                 "num_beams",
                 "num_return_sequences",
                 "output_attentions",
                 "output_hidden_states",
                 "output_scores",
                 "pad_token_id",
                 "prefix",
                 "problem_type",
                 "pruned_heads",
                 "remove_invalid_values",
                 "repetition_penalty",
                 "return_dict",
                 "return_dict_in_generate",
                 "sep_token_id",
                 "suppress_tokens",
                 "task_specific_params",
                 "temperature",
                 "tf_legacy_loss",
                 "tie_encoder_decoder",
                 "tokenizer_class",
                 "top_k",
                 "top_p",
                 "torchscript",
                 "transformers.js_config",
                 "transformers_version",
                 "typical_p",
                 "unsloth_fixed",
                 "unsloth_version",
                 "use_bfloat16",
                 "use_cache"});
  config.expect("add_cross_attention", false, false);
  config.expect_none("cross_attention_hidden_size");
}

Architecture gpt_neox(ConfigReader& config) {
  Architecture a;
  ModelConfig& m = a.model;
  m.n_layer = config.size("num_hidden_layers");
  m.n_head = config.size("num_attention_heads");
  m.d_model = config.size("hidden_size");
  m.d_ff = config.size("intermediate_size");
  m.vocab_size = config.size("vocab_size");
  m.train_len = config.size("max_position_embeddings", 2048);
  m.activation = activation(config, "hidden_act", "gelu");
  m.ln_eps = config.positive("layer_norm_eps", 1e-5);
  m.is_parallel = config.flag("use_parallel_residual", true);
  m.ties_embedding = config.flag("tie_word_embeddings", false);
  m.has_qkv_bias = m.has_dense_bias = config.flag("attention_bias", true);
  m.posenc = rope_expression(
      config, m.train_len,
      {.rotary_pct = 0.25, .theta_key = "rotary_emb_base", .rotary_pct_key = "rotary_pct"});
  config.ignore({"attention_dropout", "hidden_dropout", "classifier_dropout",
                 "partial_rotary_factor", "rope_theta"});
  return a;
}

Architecture gpt2(ConfigReader& config) {
  Architecture a;
  ModelConfig& m = a.model;
  m.n_layer = config.size("n_layer");
  m.n_head = config.size("n_head");
  m.d_model = config.size("n_embd");
  m.d_ff = config.size("n_inner", 4 * m.d_model);
  m.vocab_size = config.size("vocab_size");
  m.train_len = config.size("n_positions");
  m.activation = activation(config, "activation_function", "gelu_new");
  m.ln_eps = config.positive("layer_norm_epsilon", 1e-5);
  m.ties_embedding = config.flag("tie_word_embeddings", true);
  config.expect("scale_attn_weights", true, true);
  config.expect("scale_attn_by_inverse_layer_idx", false, false);
  m.posenc = "learned_abs";
  config.ignore({"n_ctx", "attn_pdrop", "embd_pdrop", "resid_pdrop", "summary_activation",
                 "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                 "summary_use_proj", "reorder_and_upcast_attn", "task_specific_params"});
  return a;
}

Architecture bloom(ConfigReader& config) {
  Architecture a;
  ModelConfig& m = a.model;
  m.n_layer =
      config.size("n_layer", config.has("num_hidden_layers") ? config.size("num_hidden_layers")
                                                             : std::optional<int64_t>());
  m.n_head =
      config.size("n_head", config.has("num_attention_heads") ? config.size("num_attention_heads")
                                                              : std::optional<int64_t>());
  m.d_model = config.has("n_embed") ? config.size("n_embed") : config.size("hidden_size");
  m.d_ff = 4 * m.d_model;
  m.vocab_size = config.size("vocab_size");
  m.train_len = config.size("seq_length", 2048);
  m.activation = MlpActivation::gelu_tanh;
  m.ln_eps = config.positive("layer_norm_epsilon", 1e-5);
  m.ties_embedding = config.flag("tie_word_embeddings", true);
  m.has_embedding_norm = true;
  config.expect("apply_residual_connection_post_layernorm", false, false);
  m.posenc = "alibi";
  config.ignore({"attention_dropout", "hidden_dropout", "pretraining_tp", "slow_but_exact",
                 "attention_softmax_in_fp32", "bias_dropout_fusion", "masked_softmax_fusion",
                 "offset_alibi", "skip_bias_add", "skip_bias_add_qkv", "n_inner", "unk_token_id"});
  return a;
}

// ALiBi with slopes 2^(-most i / n), n the power of two from n_head on; for another n_head every
// second one comes first.
std::string mpt_alibi(int64_t n_head, double most) {
  if (most == 8) return "alibi";
  int64_t n = 1;
  while (n < n_head) n *= 2;
  std::vector<std::string> slopes;
  const auto add = [&](int64_t i) {
    const double slope = std::exp2(-most * static_cast<double>(i) / static_cast<double>(n));
    if (slopes.size() < static_cast<size_t>(n_head)) slopes.push_back(cli::show_value(slope));
  };
  if (n == n_head)
    for (int64_t i = 1; i <= n; ++i) add(i);
  else
    for (const int64_t first : {2, 1})
      for (int64_t i = first; i <= n; i += 2) add(i);
  return concat("alibi(slopes=[", joined(slopes, ", "), "])");
}

Architecture mpt(ConfigReader& config) {
  Architecture a;
  ModelConfig& m = a.model;
  m.n_layer = config.size("n_layers");
  m.n_head = config.size("n_heads");
  m.d_model = config.size("d_model");
  m.d_ff = 4 * m.d_model;  // whatever expansion_ratio says, as in the library
  m.vocab_size = config.size("vocab_size");
  m.train_len = config.size("max_seq_len");
  m.ln_eps = config.positive("layer_norm_epsilon", 1e-5);
  m.ties_embedding = config.flag("tie_word_embeddings", true);
  m.has_norm_bias = m.has_qkv_bias = m.has_dense_bias = m.has_mlp_bias = false;
  config.expect("no_bias", true, true);
  config.expect_none("logit_scale");
  config.expect("embedding_fraction", 1);
  double most = 8;
  if (const auto attention = config.object("attn_config")) {
    if (attention->word("attn_type", "multihead_attention") != "multihead_attention")
      attention->refuse("attn_type", "multihead_attention");
    // Without it the released code has ALiBi all the same, the original code learned positions.
    attention->expect("alibi", true, true);
    attention->expect("qk_ln", false, false);
    attention->expect("prefix_lm", false, false);
    attention->expect("attn_uses_sequence_id", false, false);
    for (const char* key : {"clip_qkv", "softmax_scale"}) attention->expect_none(key);
    most = attention->number("alibi_bias_max", 8);
    if (!(most > 0)) attention->refuse("alibi_bias_max", "a number above 0");
    attention->ignore({"attn_impl", "attn_pdrop", "model_type", "dtype", "torch_dtype"});
    ignore_general(*attention);
    attention->require_all_known();
  }
  m.posenc = mpt_alibi(m.n_head, most);
  config.ignore({"expansion_ratio", "emb_pdrop", "resid_pdrop", "init_device", "init_config",
                 "learned_pos_emb", "norm_type", "verbose", "tokenizer_name"});
  return a;
}

// "rope@0..2 + rope@4": a term on the layers for which `has` is true.
std::string on_layers(const std::string& term, int64_t n_layer,
                      const std::function<bool(int64_t)>& has) {
  std::vector<std::string> ranges;
  for (int64_t i = 0; i < n_layer; ++i) {
    if (!has(i)) continue;
    int64_t end = i;
    while (end + 1 < n_layer && has(end + 1)) ++end;
    if (i == 0 && end + 1 == n_layer) return term;
    ranges.push_back(i == end ? concat(term, '@', i) : concat(term, '@', i, "..", end));
    i = end;
  }
  return joined(ranges, " + ");
}

// Which layers have a sliding window.
std::vector<bool> sliding_layers(ConfigReader& config, int64_t n_layer,
                                 const std::function<bool(int64_t)>& usual) {
  std::vector<bool> sliding;
  if (!config.has("layer_types")) {
    for (int64_t i = 0; i < n_layer; ++i) sliding.push_back(usual(i));
    return sliding;
  }
  for (const std::string& type : config.words("layer_types")) {
    if (type != "full_attention" && type != "sliding_attention")
      config.refuse("layer_types", "full_attention or sliding_attention for each layer");
    sliding.push_back(type == "sliding_attention");
  }
  if (static_cast<int64_t>(sliding.size()) != n_layer)
    config.refuse("layer_types", concat(n_layer, " of them, one for each layer"));
  return sliding;
}

Architecture llama_like(ConfigReader& config, const std::string& family) {
  const bool is_mistral = family == "mistral", is_qwen2 = family == "qwen2",
             is_smollm3 = family == "smollm3";
  Architecture a;
  ModelConfig& m = a.model;
  m.n_layer = config.size("num_hidden_layers");
  m.n_head = config.size("num_attention_heads");
  m.d_model = config.size("hidden_size");
  m.d_ff = config.size("intermediate_size");
  m.vocab_size = config.size("vocab_size");
  m.train_len = config.size("max_position_embeddings", is_mistral               ? 4096 * 32
                                                       : is_qwen2 || is_smollm3 ? 32768
                                                                                : 2048);
  const std::optional<int64_t> usual_kv = is_mistral   ? 8
                                          : is_qwen2   ? 32
                                          : is_smollm3 ? 4
                                                       : m.n_head;
  m.n_kv_head = config.size("num_key_value_heads", usual_kv);
  if (m.n_head % m.n_kv_head != 0)
    config.refuse("num_key_value_heads", concat("a divisor of num_attention_heads, ", m.n_head));
  if (m.n_kv_head == m.n_head) m.n_kv_head = 0;
  if (config.has("head_dim")) m.d_head = config.size("head_dim");
  if (m.d_head * m.n_head == m.d_model) m.d_head = 0;
  m.norm = NormKind::rms;
  m.ln_eps = config.positive("rms_norm_eps", 1e-6);
  m.activation = MlpActivation::swiglu;
  if (config.word("hidden_act", "silu") != "silu") config.refuse("hidden_act", "silu");
  m.ties_embedding = config.flag("tie_word_embeddings", is_smollm3);
  const bool has_bias = config.flag("attention_bias", false);
  m.has_qkv_bias = is_qwen2 || has_bias;
  m.has_dense_bias = !is_qwen2 && has_bias;
  m.has_mlp_bias = config.flag("mlp_bias", false);

  const std::string rope = rope_expression(config, m.train_len, {.theta = is_smollm3 ? 2e6 : 1e4});
  std::vector<int64_t> rotates(static_cast<size_t>(m.n_layer), 1);
  if (is_smollm3) {
    const int64_t interval = config.size("no_rope_layer_interval", 4);
    for (int64_t i = 0; i < m.n_layer; ++i)
      rotates[static_cast<size_t>(i)] = (i + 1) % interval != 0 ? 1 : 0;
    if (config.has("no_rope_layers")) rotates = config.wholes("no_rope_layers");
    if (static_cast<int64_t>(rotates.size()) != m.n_layer)
      config.refuse("no_rope_layers", concat(m.n_layer, " of them, one for each layer"));
  }
  const bool may_slide = is_mistral || config.flag("use_sliding_window", false);
  // Without the key the library gives Mistral 4096 tokens, with null no window.
  std::optional<int64_t> window;
  if (config.has("sliding_window"))
    window = config.size("sliding_window");
  else if (is_mistral && !config.mentions("sliding_window"))
    window = 4096;
  const int64_t first_sliding = is_qwen2 ? config.whole("max_window_layers", 28) : 0;
  const std::vector<bool> sliding = sliding_layers(config, m.n_layer, [&](int64_t i) {
    const bool has_no_rope = rotates[static_cast<size_t>(i)] == 0;
    return may_slide && window && i >= first_sliding && (!is_smollm3 || has_no_rope);
  });
  const auto slides = [&](int64_t i) { return sliding[static_cast<size_t>(i)]; };
  std::vector<std::string> terms;
  const auto add = [&](const std::string& term) {
    if (!term.empty()) terms.push_back(term);
  };
  add(on_layers(rope, m.n_layer, [&](int64_t i) { return rotates[static_cast<size_t>(i)] != 0; }));
  if (std::find(sliding.begin(), sliding.end(), true) != sliding.end()) {
    if (!window) config.refuse("sliding_window", "a size, for the layers with sliding attention");
    add(on_layers(concat("window(", *window, ')'), m.n_layer, slides));
  }
  m.posenc = terms.empty() ? "none" : joined(terms, " + ");
  config.ignore({"attention_dropout", "pretraining_tp", "max_window_layers", "rope_interleaved",
                 "rope_theta"});
  return a;
}

Architecture llama(ConfigReader& config) { return llama_like(config, "llama"); }
Architecture mistral(ConfigReader& config) { return llama_like(config, "mistral"); }
Architecture qwen2(ConfigReader& config) { return llama_like(config, "qwen2"); }
Architecture smollm3(ConfigReader& config) { return llama_like(config, "smollm3"); }

struct Family {
  const char* model_type;
  Architecture (*read)(ConfigReader& config);
};
constexpr Family kFamilies[] = {
    {"gpt_neox", gpt_neox}, {"llama", llama},     {"mistral", mistral},
    {"qwen2", qwen2},       {"smollm3", smollm3}, {"bloom", bloom},
    {"mpt", mpt},           {"gpt2", gpt2},       {kOwnType, read_own_config}};

// ConfigError for arguments of a rotation that are out of range.
void require_rotations(const ModelConfig& model) {
  const posenc::Config config = encoding_config(model);
  for (const posenc::ParsedTerm& term : posenc::parse_expression(model.posenc, posenc::form_of)) {
    const posenc::Row* const row = posenc::find(term.name);
    if (row == nullptr || !row->is("R")) continue;
    row->make(posenc::Arguments(model.posenc, term, row->name, row->arguments, config), config);
  }
}

}  // namespace

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.model_type);
  return names;
}

Architecture read_architecture(const std::string& file, std::string_view text) {
  ConfigReader config(file, text);
  const std::string type = config.word("model_type");
  const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& f) { return f.model_type == type; });
  if (family == std::end(kFamilies)) config.refuse("model_type", listed(families(), " or "));
  config.expect_none("quantization_config");
  if (type != kOwnType) config.expect_none("auto_map");
  Architecture a = family->read(config);
  a.family = type;
  if (a.model.vocab_size > data::kMostTokens)
    config.refuse("vocab_size", concat("a size of at most ", data::kMostTokens));
  a.names = weight_names(type);
  if (const auto id = config.first_whole("eos_token_id"); id && *id >= 0 && *id < INT32_MAX)
    a.end_of_text = static_cast<int32_t>(*id);
  a.dtype = config.word("dtype", config.word("torch_dtype", "float32"));
  ignore_general(config);
  config.require_all_known();
  try {
    validate(a.model);
  } catch (const ConfigError& error) {
    fail<IoError>("hub", file, ": the sizes do not fit together: ", error.what());
  }
  try {
    require_rotations(a.model);
  } catch (const ConfigError& error) {
    fail<IoError>("hub", file, ": the settings of its rotation: ", error.what());
  }
  return a;
}

}  // namespace farfield::hub
