#include "apps/hub/weight_names.h"

#include "engine/base/error.h"

namespace farfield::hub {
namespace {

const WeightNames kGptNeoX = {
    .prefix = "gpt_neox.",
    .embedding = "embed_in",
    .embedding_norm = {},
    .positions = {},
    .layers = "layers.",
    .attention_norm = "input_layernorm",
    .q = {},
    .k = {},
    .v = {},
    .qkv = "attention.query_key_value",
    .dense = "attention.dense",
    .mlp_norm = "post_attention_layernorm",
    .gate = {},
    .up = "mlp.dense_h_to_4h",
    .down = "mlp.dense_4h_to_h",
    .final_norm = "final_layer_norm",
    .head = "embed_out",
    .qkv_layout = QkvLayout::by_head,
    .is_transposed = false,
    .buffers = {".attention.bias", ".attention.masked_bias", "rotary_emb.inv_freq"}};

const WeightNames kGpt2 = {.prefix = "transformer.",
                           .embedding = "wte",
                           .embedding_norm = {},
                           .positions = "wpe",
                           .layers = "h.",
                           .attention_norm = "ln_1",
                           .q = {},
                           .k = {},
                           .v = {},
                           .qkv = "attn.c_attn",
                           .dense = "attn.c_proj",
                           .mlp_norm = "ln_2",
                           .gate = {},
                           .up = "mlp.c_fc",
                           .down = "mlp.c_proj",
                           .final_norm = "ln_f",
                           .head = "lm_head",
                           .qkv_layout = QkvLayout::by_part,
                           .is_transposed = true,
                           .buffers = {".attn.bias", ".attn.masked_bias"}};

const WeightNames kBloom = {.prefix = "transformer.",
                            .embedding = "word_embeddings",
                            .embedding_norm = "word_embeddings_layernorm",
                            .positions = {},
                            .layers = "h.",
                            .attention_norm = "input_layernorm",
                            .q = {},
                            .k = {},
                            .v = {},
                            .qkv = "self_attention.query_key_value",
                            .dense = "self_attention.dense",
                            .mlp_norm = "post_attention_layernorm",
                            .gate = {},
                            .up = "mlp.dense_h_to_4h",
                            .down = "mlp.dense_4h_to_h",
                            .final_norm = "ln_f",
                            .head = "lm_head",
                            .qkv_layout = QkvLayout::by_head,
                            .is_transposed = false,
                            .buffers = {}};

const WeightNames kMpt = {.prefix = "transformer.",
                          .embedding = "wte",
                          .embedding_norm = {},
                          .positions = {},
                          .layers = "blocks.",
                          .attention_norm = "norm_1",
                          .q = {},
                          .k = {},
                          .v = {},
                          .qkv = "attn.Wqkv",
                          .dense = "attn.out_proj",
                          .mlp_norm = "norm_2",
                          .gate = {},
                          .up = "ffn.up_proj",
                          .down = "ffn.down_proj",
                          .final_norm = "norm_f",
                          .head = "lm_head",
                          .qkv_layout = QkvLayout::by_part,
                          .is_transposed = false,
                          .buffers = {}};

const WeightNames kLlama = {.prefix = "model.",
                            .embedding = "embed_tokens",
                            .embedding_norm = {},
                            .positions = {},
                            .layers = "layers.",
                            .attention_norm = "input_layernorm",
                            .q = "self_attn.q_proj",
                            .k = "self_attn.k_proj",
                            .v = "self_attn.v_proj",
                            .qkv = {},
                            .dense = "self_attn.o_proj",
                            .mlp_norm = "post_attention_layernorm",
                            .gate = "mlp.gate_proj",
                            .up = "mlp.up_proj",
                            .down = "mlp.down_proj",
                            .final_norm = "norm",
                            .head = "lm_head",
                            .qkv_layout = QkvLayout::separate,
                            .is_transposed = false,
                            .buffers = {"rotary_emb.inv_freq"}};

// Our own, which are GPT-NeoX's and more.
WeightNames with_our_parts(WeightNames names) {
  names.embedding_norm = "embed_in_layernorm";
  names.gate = "mlp.gate";
  names.buffers.clear();
  names.tables = kOwnTables;
  names.is_ours = true;
  return names;
}

}  // namespace

const WeightNames& weight_names(std::string_view model_type) {
  static const WeightNames ours = with_our_parts(kGptNeoX);
  if (model_type == kOwnType) return ours;
  if (model_type == "gpt_neox") return kGptNeoX;
  if (model_type == "gpt2") return kGpt2;
  if (model_type == "bloom") return kBloom;
  if (model_type == "mpt") return kMpt;
  for (const char* like_llama : {"llama", "mistral", "qwen2", "smollm3"})
    if (model_type == like_llama) return kLlama;
  fail<ConfigError>("hub", "expected the model_type of a family, got '", model_type, '\'');
}

}  // namespace farfield::hub
