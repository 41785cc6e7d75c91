#include "apps/hub/export_weights.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/hub/encoding_tables.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/attention.h"
#include "layers/transformer.h"
#include "posenc/composition.h"

namespace farfield::hub {
namespace {

// Rows [first, first + n) of a matrix of ours.
struct OwnRows {
  int64_t first, n;
};

class WeightExporter {
 public:
  WeightExporter(const ModelConfig& model, const WeightNames& names,
                 std::map<std::string, Tensor> ours, const WeightExport& how)
      : model_(model), names_(names), ours_(std::move(ours)), how_(how) {}

  run::NamedTensors all() {
    const int64_t d = model_.d_model;
    const std::string& prefix = names_.prefix;
    if (model_.is_adaptive())
      bands();
    else
      put(prefix + names_.embedding + ".weight",
          take("gpt_neox.embed_in.weight", {model_.vocab_size, d}));
    if (model_.has_embedding_norm)
      norm("gpt_neox.embed_in_layernorm", prefix + names_.embedding_norm);
    for (int64_t i = 0; i < model_.n_layer; ++i) layer(i);
    if (model_.has_final_norm) norm("gpt_neox.final_layer_norm", prefix + names_.final_norm);
    if (!model_.ties_embedding && !model_.is_adaptive())
      put(names_.head + ".weight", take("embed_out.weight", {model_.vocab_size, d}));
    if (!names_.positions.empty()) {
      put(prefix + names_.positions + ".weight",
          take(posenc::checkpoint_name("learned_abs.weight"), {how_.n_position, d}));
    }
    if (names_.is_ours) encoding();
    require<IoError>(ours_.empty(), "hub", how_.where,
                     ": expected the tensors of its model alone, got '",
                     ours_.empty() ? "" : ours_.begin()->first, "' too");
    return std::move(made_);
  }

 private:
  // An adaptive input and softmax, which our own class alone has.
  void bands() {
    const int64_t d = model_.d_model;
    for (int64_t i = 0; i < model_.n_band(); ++i) {
      const std::string band = concat("gpt_neox.embed_in.bands.", i);
      const int64_t width = model_.band_width(i);
      same(band + ".weight", {model_.band_size(i), width});
      same(band + ".projection.weight", {d, width});
    }
    same("embed_out.clusters.weight", {model_.n_band() - 1, d});
  }

  // Learned values of the encoding, unrounded: tables were computed from these.
  void encoding() {
    for (const Parameter& p : encoding_of(model_).parameters()) {
      const std::string name = posenc::checkpoint_name(p.name);
      made_.emplace_back(name, take(name, p.value.shape()));
    }
  }

  void same(const std::string& name, const Shape& shape) { put(name, take(name, shape)); }

  void layer(int64_t i) {
    const int64_t d = model_.d_model, d_ff = model_.d_ff,
                  d_heads = model_.n_head * model_.head_dim();
    const std::string ours = concat("gpt_neox.layers.", i, '.'),
                      theirs = concat(names_.prefix, names_.layers, i, '.');
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
    put(theirs + ".weight", take(ours + ".weight", {model_.d_model}));
    if (model_.has_norm_biases()) put(theirs + ".bias", take(ours + ".bias", {model_.d_model}));
  }

  void linear(const std::string& ours, const std::string& theirs, int64_t out, int64_t in,
              bool has_bias) {
    put_linear(theirs + ".weight", take(ours + ".weight", {out, in}));
    if (has_bias) put(theirs + ".bias", take(ours + ".bias", {out}));
  }

  // Ours is [group][q of its heads | k | v].
  void qkv(const std::string& ours, const std::string& theirs) {
    const HeadCounts heads = model_.heads();
    const int64_t head_dim = model_.head_dim(), rows = heads.n_part() * head_dim;
    const std::vector<int64_t> part_rows = qkv_part_rows(heads, head_dim);
    const int64_t group_rows = part_rows[0] + part_rows[1] + part_rows[2];
    std::vector<std::vector<OwnRows>> parts(3);
    for (int64_t group = 0; group < heads.n_kv_head; ++group) {
      int64_t first = group * group_rows;
      for (size_t part = 0; part < 3; ++part) {
        parts[part].push_back({first, part_rows[part]});
        first += part_rows[part];
      }
    }
    for (const std::string_view end : {".weight", ".bias"}) {
      const bool is_weight = end == ".weight";
      if (!is_weight && !model_.has_qkv_bias) continue;
      const std::string name = concat(ours, end);
      const Tensor whole = is_weight ? take(name, {rows, model_.d_model}) : take(name, {rows});
      const auto add = [&](const std::string& to, const Tensor& made) {
        if (is_weight)
          put_linear(concat(theirs, to, end), made);
        else
          put(concat(theirs, to, end), made);
      };
      if (names_.qkv_layout == QkvLayout::by_head) {
        add(names_.qkv, whole);
      } else if (names_.qkv_layout == QkvLayout::separate) {
        add(names_.q, rows_of(whole, parts[0]));
        add(names_.k, rows_of(whole, parts[1]));
        add(names_.v, rows_of(whole, parts[2]));
      } else {
        std::vector<OwnRows> list;
        for (const auto& part : parts) list.insert(list.end(), part.begin(), part.end());
        add(names_.qkv, rows_of(whole, list));
      }
    }
  }

  // Some rows of a matrix or of a vector, in this order.
  static Tensor rows_of(const Tensor& from, const std::vector<OwnRows>& list) {
    const int64_t width = from.rank() == 1 ? 1 : from.dim(1);
    int64_t n = 0;
    for (const OwnRows& rows : list) n += rows.n;
    Tensor made = Tensor::empty(from.rank() == 1 ? Shape{n} : Shape{n, width}, DType::f32);
    const float* const values = from.data<float>();
    float* to = made.data<float>();
    for (const OwnRows& rows : list)
      to = std::copy_n(values + rows.first * width, rows.n * width, to);
    return made;
  }

  // A weight [out, in] of a linear layer.
  void put_linear(const std::string& name, const Tensor& weight) {
    if (!names_.is_transposed) {
      put(name, weight);
      return;
    }
    const int64_t out = weight.dim(0), in = weight.dim(1);
    Tensor made = Tensor::empty({in, out}, DType::f32);
    const float* const from = weight.data<float>();
    float* const to = made.data<float>();
    for (int64_t o = 0; o < out; ++o)
      for (int64_t i = 0; i < in; ++i) to[i * out + o] = from[o * in + i];
    put(name, made);
  }

  void put(const std::string& name, const Tensor& made) {
    made_.emplace_back(name, made.to(how_.dtype));
  }

  Tensor take(const std::string& name, const Shape& shape) {
    const auto found = ours_.find(name);
    require<IoError>(found != ours_.end(), "hub", how_.where, ": expected a tensor '", name,
                     "', got none");
    require<IoError>(found->second.shape() == shape, "hub", how_.where, ": expected '", name,
                     "' of shape ", shape, ", got ", found->second.shape());
    Tensor taken = found->second.to(DType::f32);
    ours_.erase(found);
    return taken;
  }

  const ModelConfig& model_;
  const WeightNames& names_;
  std::map<std::string, Tensor> ours_;
  const WeightExport& how_;
  run::NamedTensors made_;
};

}  // namespace

run::NamedTensors export_weights(const ModelConfig& model, const WeightNames& names,
                                 std::map<std::string, Tensor> ours, const WeightExport& how) {
  return WeightExporter(model, names, std::move(ours), how).all();
}

}  // namespace farfield::hub
