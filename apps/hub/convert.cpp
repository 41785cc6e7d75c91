#include "apps/hub/convert.h"

#include <algorithm>
#include <utility>

#include "apps/hub/encoding_tables.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/attention.h"
#include "layers/transformer.h"
#include "posenc/composition.h"

namespace farfield::hub {
namespace {

constexpr std::string_view kWhere = "hub";
// A part of a matrix: rows [first, first + n) of theirs.
struct RowBlock {
  std::string tensor;
  int64_t first, n;
};

class Converter {
 public:
  Converter(const Architecture& architecture, WeightFiles& files,
            const std::function<void(double)>& progress)
      : model_(architecture.model),
        names_(architecture.names),
        files_(files),
        progress_(progress),
        n_in_all_(parameter_count(model_)) {
    prefix_ = names_.prefix;
    if (!names_.is_ours && !files.has(prefix_ + names_.embedding + ".weight")) prefix_.clear();
  }

  run::NamedTensors all() {
    const int64_t d = model_.d_model;
    if (model_.is_adaptive())
      bands();
    else
      matrix("gpt_neox.embed_in.weight", prefix_ + names_.embedding, model_.vocab_size, d);
    if (model_.has_embedding_norm)
      norm("gpt_neox.embed_in_layernorm", prefix_ + names_.embedding_norm);
    for (int64_t i = 0; i < model_.n_layer; ++i) layer(i);
    if (model_.has_final_norm) norm("gpt_neox.final_layer_norm", prefix_ + names_.final_norm);
    if (!model_.ties_embedding && !model_.is_adaptive())
      matrix("embed_out.weight", names_.head, model_.vocab_size, d);
    if (!names_.positions.empty())
      matrix(posenc::checkpoint_name("learned_abs.weight"), prefix_ + names_.positions,
             model_.train_len, d);
    if (names_.is_ours)
      for (const Parameter& p : encoding_of(model_).parameters())
        same(posenc::checkpoint_name(p.name), p.value.shape());
    check_all_read();
    return std::move(made_);
  }

 private:
  // An adaptive input and softmax, under our own names.
  void bands() {
    for (int64_t i = 0; i < model_.n_band(); ++i) {
      const std::string band = concat("gpt_neox.embed_in.bands.", i);
      const int64_t width = model_.band_width(i);
      same(band + ".weight", {model_.band_size(i), width});
      same(band + ".projection.weight", {model_.d_model, width});
    }
    same("embed_out.clusters.weight", {model_.n_band() - 1, model_.d_model});
  }

  void same(const std::string& name, const Shape& shape) {
    check_shape(name, shape);
    Tensor made = Tensor::empty(shape, DType::f32);
    files_.read(name, 0, {made.data<float>(), static_cast<size_t>(made.numel())});
    add(name, made);
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
    copy(ours + ".weight", {model_.d_model}, {{theirs + ".weight", 0, model_.d_model}});
    if (model_.has_norm_biases())
      copy(ours + ".bias", {model_.d_model}, {{theirs + ".bias", 0, model_.d_model}});
  }

  void matrix(const std::string& ours, const std::string& theirs, int64_t rows, int64_t columns) {
    copy(ours, {rows, columns}, {{theirs + ".weight", 0, rows}});
  }

  void linear(const std::string& ours, const std::string& theirs, int64_t out, int64_t in,
              bool has_bias) {
    blocks(ours + ".weight", out, in, {{theirs + ".weight", 0, out}}, out);
    if (has_bias) copy(ours + ".bias", {out}, {{theirs + ".bias", 0, out}});
  }

  // Ours is [group][q of its heads | k | v].
  void qkv(const std::string& ours, const std::string& theirs) {
    const HeadCounts heads = model_.heads();
    const int64_t head_dim = model_.head_dim(), rows = heads.n_part() * head_dim;
    const std::vector<int64_t> part_rows = qkv_part_rows(heads, head_dim);
    const std::string part_names[] = {names_.q, names_.k, names_.v};
    for (const char* end : {".weight", ".bias"}) {
      const bool is_weight = end == std::string_view(".weight");
      if (!is_weight && !model_.has_qkv_bias) continue;
      std::vector<RowBlock> list;
      if (names_.qkv_layout == QkvLayout::by_head) {
        list.push_back({theirs + names_.qkv + end, 0, rows});
      } else {
        for (int64_t group = 0; group < heads.n_kv_head; ++group) {
          int64_t before = 0;  // rows of the parts before, of all groups
          for (size_t part = 0; part < 3; ++part) {
            const int64_t n = part_rows[part], first = group * n;
            if (names_.qkv_layout == QkvLayout::separate)
              list.push_back({theirs + part_names[part] + end, first, n});
            else
              list.push_back({theirs + names_.qkv + end, before + first, n});
            before += n * heads.n_kv_head;
          }
        }
      }
      const bool is_separate = names_.qkv_layout == QkvLayout::separate;
      if (is_separate)
        for (size_t part = 0; part < 3; ++part)
          check_shape(theirs + part_names[part] + end,
                      is_weight ? Shape{part_rows[part] * heads.n_kv_head, model_.d_model}
                                : Shape{part_rows[part] * heads.n_kv_head});
      if (is_weight)
        blocks(ours + end, rows, model_.d_model, list, is_separate ? 0 : rows);
      else
        copy(ours + end, {rows}, list, is_separate ? 0 : rows);
    }
  }

  // A weight [out, in] of a linear layer; their whole has `theirs` rows, 0: checked already.
  void blocks(const std::string& ours, int64_t out, int64_t in, const std::vector<RowBlock>& list,
              int64_t theirs) {
    if (!names_.is_transposed) {
      copy(ours, {out, in}, list, theirs);
      return;
    }
    // [in, out]: row i holds input i of every output.
    const std::string& tensor = list.front().tensor;
    check_shape(tensor, {in, out});
    Tensor made = Tensor::empty({out, in}, DType::f32);
    float* const to = made.data<float>();
    std::vector<float> row(static_cast<size_t>(out));
    for (int64_t i = 0; i < in; ++i) {
      files_.read(tensor, i * out, row);
      int64_t at = 0;
      for (const RowBlock& block : list)
        for (int64_t r = block.first; r < block.first + block.n; ++r, ++at)
          to[at * in + i] = row[static_cast<size_t>(r)];
    }
    add(ours, made);
  }

  // Blocks of rows, one after the other.
  void copy(const std::string& ours, const Shape& shape, const std::vector<RowBlock>& list,
            int64_t theirs = -1) {
    const int64_t width = shape.rank() == 1 ? 1 : shape[1];
    if (theirs != 0) check_shape(list.front().tensor, shape);
    Tensor made = Tensor::empty(shape, DType::f32);
    float* to = made.data<float>();
    for (const RowBlock& block : list) {
      const int64_t n = block.n * width;
      files_.read(block.tensor, block.first * width, {to, static_cast<size_t>(n)});
      to += n;
    }
    add(ours, made);
  }

  void check_shape(const std::string& tensor, const Shape& want) const {
    const Shape& got = files_.shape(tensor);
    require<IoError>(got == want, kWhere, files_.name(), ": expected '", tensor, "' of shape ",
                     want, ", as config.json says, got ", got);
  }

  void add(const std::string& name, const Tensor& made) {
    made_.emplace_back(name, made);
    n_done_ += made.numel();
    if (progress_)
      progress_(static_cast<double>(n_done_) /
                static_cast<double>(std::max<int64_t>(n_in_all_, 1)));
  }

  // What is left can be left out: tables, and the head of a tied model, which is its embedding.
  void check_all_read() {
    for (const std::string& name : files_.unread()) {
      const bool is_buffer =
          std::any_of(names_.buffers.begin(), names_.buffers.end(),
                      [&](const std::string& end) { return name.ends_with(end); }) ||
          (!names_.tables.empty() && name.starts_with(names_.tables));
      const bool is_tied_head = model_.ties_embedding && name == names_.head + ".weight";
      if (is_tied_head) check_tied_head(name);
      require<IoError>(is_buffer || is_tied_head, kWhere, files_.name(),
                       ": expected tensors of this architecture alone, got '", name,
                       "', for which the model has no place");
    }
  }

  // A head beside a tied embedding has to be the same matrix.
  void check_tied_head(const std::string& name) {
    const Tensor& embedding = made_.front().second;
    check_shape(name, embedding.shape());
    const auto width = static_cast<size_t>(embedding.dim(1));
    std::vector<float> row(width);
    for (int64_t i = 0; i < embedding.dim(0); ++i) {
      files_.read(name, i * embedding.dim(1), row);
      require<IoError>(
          std::equal(row.begin(), row.end(), embedding.data<float>() + i * embedding.dim(1)),
          kWhere, files_.name(), ": expected '", name,
          "' to be the embedding, since tie_word_embeddings is true, got another "
          "matrix");
    }
  }

  const ModelConfig& model_;
  const WeightNames& names_;
  WeightFiles& files_;
  const std::function<void(double)>& progress_;
  std::string prefix_;
  run::NamedTensors made_;
  int64_t n_in_all_, n_done_ = 0;
};

}  // namespace

run::NamedTensors convert(const Architecture& architecture, WeightFiles& files,
                          const std::function<void(double)>& progress) {
  return Converter(architecture, files, progress).all();
}

}  // namespace farfield::hub
