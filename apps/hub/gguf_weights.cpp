#include "apps/hub/gguf_weights.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/hub/encoding_config.h"
#include "apps/hub/export_weights.h"
#include "apps/hub/weight_names.h"
#include "engine/base/error.h"
#include "posenc/angles.h"
#include "posenc/registry.h"

namespace farfield::hub {
namespace {

const WeightNames kGgufNames = {.prefix = {},
                                .embedding = "token_embd",
                                .embedding_norm = {},
                                .positions = {},
                                .layers = "blk.",
                                .attention_norm = "attn_norm",
                                .q = "attn_q",
                                .k = "attn_k",
                                .v = "attn_v",
                                .qkv = "attn_qkv",
                                .dense = "attn_output",
                                .mlp_norm = "ffn_norm",
                                .gate = "ffn_gate",
                                .up = "ffn_up",
                                .down = "ffn_down",
                                .final_norm = "output_norm",
                                .head = "output",
                                .qkv_layout = QkvLayout::separate,
                                .is_transposed = false,
                                .buffers = {}};

bool is_of_q_or_k(const std::string& name) {
  return name.find(".attn_q.") != name.npos || name.find(".attn_k.") != name.npos;
}

// The angles by which the rotation of a model turns from one position to the next.
std::vector<double> turns_of(const ModelConfig& model, const ExportedEncoding& encoding) {
  const posenc::Config config = encoding_config(model);
  for (const posenc::ParsedTerm& term : posenc::parse_expression(model.posenc, posenc::form_of)) {
    const posenc::Row* const row = posenc::find(term.name);
    if (row == nullptr || row->name != encoding.rotary) continue;
    const posenc::Arguments arguments(model.posenc, term, row->name, row->arguments, config);
    const Rotation rotation =
        row->make(arguments, config)->rotate(posenc::Positions::plain(1, 2, posenc::Phase::eval));
    const std::vector<double> cos = rotation.cos.to_vector(), sin = rotation.sin.to_vector();
    std::vector<double> turns;
    for (size_t i = 0; i < cos.size(); ++i) turns.push_back(std::atan2(sin[i], cos[i]));
    return turns;
  }
  fail<ConfigError>("hub", "expected a term ", encoding.rotary, ", got '", model.posenc, '\'');
}

// llama.cpp divides the frequencies of plain rope by these.
Tensor frequency_divisors(const ModelConfig& model, const ExportedEncoding& encoding) {
  const std::vector<double> turns = turns_of(model, encoding);
  std::vector<double> divisors =
      posenc::geometric_frequencies(model.head_dim(), encoding.numbers.at("base"));
  for (size_t i = 0; i < divisors.size(); ++i) divisors[i] /= turns[i];
  return Tensor::from(divisors, {static_cast<int64_t>(divisors.size())}, DType::f32);
}

}  // namespace

Tensor neighbours(const Tensor& rows, int64_t head_dim) {
  const int64_t width = rows.rank() == 1 ? 1 : rows.dim(1), half = head_dim / 2;
  Tensor made = Tensor::empty(rows.shape(), DType::f32);
  const float* const from = rows.data<float>();
  float* const to = made.data<float>();
  for (int64_t row = 0; row < rows.dim(0); ++row) {
    const int64_t component = row % head_dim;
    const int64_t place = row - component + 2 * (component % half) + component / half;
    std::copy_n(from + row * width, width, to + place * width);
  }
  return made;
}

std::vector<GgufTensor> gguf_weights(const GgufArchitecture& architecture, ExportedRun exported,
                                     const ExportedEncoding& encoding, DType dtype,
                                     const std::string& where) {
  const ModelConfig& model = exported.model;
  WeightNames names = kGgufNames;
  if (model.norm == NormKind::layer) names.qkv_layout = QkvLayout::by_part;
  run::NamedTensors converted = export_weights(model, names, std::move(exported.weights),
                                               {.dtype = DType::f32, .where = where});
  std::vector<GgufTensor> tensors;
  for (auto& [name, values] : converted) {
    Tensor kept = std::exchange(values, Tensor());
    if (architecture.turns_neighbours && is_of_q_or_k(name))
      kept = neighbours(kept, model.head_dim());
    const DType type = kept.rank() > 1 ? dtype : DType::f32;
    tensors.push_back({name, std::move(kept), type});
  }
  if (architecture.has_head && model.ties_embedding)
    tensors.push_back({kGgufNames.head + ".weight", tensors.front().values, dtype});
  if (encoding.rotary == "rope_llama3")
    tensors.push_back({"rope_freqs.weight", frequency_divisors(model, encoding), DType::f32});
  return tensors;
}

}  // namespace farfield::hub
