#include "apps/hub/weight_pairs.h"

#include "apps/cli/lists.h"
#include "apps/hub/encoding_tables.h"
#include "engine/base/text.h"
#include "layers/attention.h"
#include "layers/transformer.h"
#include "posenc/composition.h"

namespace farfield::hub {
namespace {

class PairList {
 public:
  PairList(const ModelConfig& model, const WeightNames& names, const std::string& prefix)
      : model_(model), names_(names), prefix_(prefix) {}

  std::vector<WeightPair> all(int64_t n_position) {
    const int64_t d = model_.d_model;
    if (model_.is_adaptive())
      bands();
    else
      whole("gpt_neox.embed_in.weight", prefix_ + names_.embedding + ".weight",
            {model_.vocab_size, d});
    if (model_.has_embedding_norm)
      norm("gpt_neox.embed_in_layernorm", prefix_ + names_.embedding_norm);
    for (int64_t i = 0; i < model_.n_layer; ++i) layer(i);
    if (model_.has_final_norm) norm("gpt_neox.final_layer_norm", prefix_ + names_.final_norm);
    if (!model_.ties_embedding && !model_.is_adaptive())
      whole("embed_out.weight", names_.head + ".weight", {model_.vocab_size, d});
    if (!names_.positions.empty())
      whole(posenc::checkpoint_name("learned_abs.weight"), prefix_ + names_.positions + ".weight",
            {n_position, d});
    if (names_.is_ours) encoding();
    return std::move(pairs_);
  }

 private:
  WeightPair& whole(const std::string& ours, const std::string& theirs, const Shape& shape) {
    return pairs_.emplace_back(
        WeightPair{.ours = ours, .shape = shape, .rows = {{theirs, 0, 0, shape[0]}}});
  }
  WeightPair& same(const std::string& name, const Shape& shape) { return whole(name, name, shape); }

  // An adaptive input and softmax, which our own class alone has.
  void bands() {
    for (int64_t i = 0; i < model_.n_band(); ++i) {
      const std::string band = concat("gpt_neox.embed_in.bands.", i);
      const int64_t width = model_.band_width(i);
      same(band + ".weight", {model_.band_size(i), width});
      same(band + ".projection.weight", {model_.d_model, width});
    }
    same("embed_out.clusters.weight", {model_.n_band() - 1, model_.d_model});
  }

  // Learned values of the encoding, unrounded: tables are computed from these.
  void encoding() {
    for (const Parameter& p : encoding_of(model_).parameters())
      same(posenc::checkpoint_name(p.name), p.value.shape()).stays_float32 = true;
  }

  void layer(int64_t i) {
    const int64_t d = model_.d_model, d_ff = model_.d_ff,
                  d_heads = model_.n_head * model_.head_dim();
    const std::string ours = concat("gpt_neox.layers.", i, '.'),
                      theirs = concat(prefix_, names_.layers, i, '.');
    norm(ours + "input_layernorm", theirs + names_.attention_norm);
    qkv(ours + "attention.query_key_value", theirs);
    linear(ours + "attention.dense", theirs + names_.dense, d, d_heads, model_.has_dense_bias);
    norm(ours + "post_attention_layernorm", theirs + names_.mlp_norm);
    if (model_.is_gated())
      linear(ours + "mlp.gate", theirs + names_.gate, d_ff, d, model_.has_mlp_bias);
    linear(ours + "mlp.dense_h_to_4h", theirs + names_.up, d_ff, d, model_.has_mlp_bias);
    linear(ours + "mlp.dense_4h_to_h", theirs + names_.down, d, d_ff, model_.has_mlp_bias);
  }

  void norm(const std::string& ours, const std::string& theirs) {
    whole(ours + ".weight", theirs + ".weight", {model_.d_model});
    if (model_.has_norm_biases()) whole(ours + ".bias", theirs + ".bias", {model_.d_model});
  }

  void linear(const std::string& ours, const std::string& theirs, int64_t out, int64_t in,
              bool has_bias) {
    whole(ours + ".weight", theirs + ".weight", {out, in}).is_linear = true;
    if (has_bias) whole(ours + ".bias", theirs + ".bias", {out});
  }

  void qkv(const std::string& ours, const std::string& theirs) {
    const int64_t rows = model_.heads().n_part() * model_.head_dim();
    pairs_.push_back({.ours = ours + ".weight",
                      .shape = {rows, model_.d_model},
                      .rows = qkv_rows(theirs, ".weight"),
                      .is_linear = true});
    if (model_.has_qkv_bias)
      pairs_.push_back(
          {.ours = ours + ".bias", .shape = {rows}, .rows = qkv_rows(theirs, ".bias")});
  }

  // Ours is [group][q of its heads | k | v].
  std::vector<RowPair> qkv_rows(const std::string& theirs, const char* end) const {
    const HeadCounts heads = model_.heads();
    const int64_t head_dim = model_.head_dim();
    if (names_.qkv_layout == QkvLayout::by_head)
      return {{theirs + names_.qkv + end, 0, 0, heads.n_part() * head_dim}};
    const bool is_separate = names_.qkv_layout == QkvLayout::separate;
    const std::vector<int64_t> part_rows = qkv_part_rows(heads, head_dim);
    const std::string part_names[] = {names_.q, names_.k, names_.v};
    std::vector<RowPair> list;
    int64_t at = 0;
    for (int64_t group = 0; group < heads.n_kv_head; ++group) {
      int64_t before = 0;  // rows of the parts before, of all groups
      for (size_t part = 0; part < 3; ++part) {
        const int64_t n = part_rows[part];
        list.push_back({theirs + (is_separate ? part_names[part] : names_.qkv) + end,
                        (is_separate ? 0 : before) + group * n, at, n});
        before += n * heads.n_kv_head;
        at += n;
      }
    }
    return list;
  }

  const ModelConfig& model_;
  const WeightNames& names_;
  const std::string& prefix_;
  std::vector<WeightPair> pairs_;
};

}  // namespace

std::vector<std::string> WeightPair::tensors() const {
  std::vector<std::string> names;
  for (const RowPair& pair : rows) cli::add_new(names, pair.tensor);
  return names;
}

Shape WeightPair::shape_of(const std::string& tensor) const {
  int64_t n = 0;
  for (const RowPair& pair : rows)
    if (pair.tensor == tensor) n += pair.n;
  return shape.with(0, n);
}

std::vector<WeightPair> weight_pairs(const ModelConfig& model, const WeightNames& names,
                                     const std::string& prefix, int64_t n_position) {
  return PairList(model, names, prefix).all(n_position);
}

}  // namespace farfield::hub
