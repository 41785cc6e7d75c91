#include "apps/hub/export_weights.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/hub/weight_pairs.h"
#include "engine/base/error.h"

namespace farfield::hub {
namespace {

class WeightExporter {
 public:
  WeightExporter(const ModelConfig& model, const WeightNames& names,
                 std::map<std::string, Tensor> ours, const WeightExport& how)
      : model_(model), names_(names), ours_(std::move(ours)), how_(how) {}

  run::NamedTensors all() {
    for (const WeightPair& pair : weight_pairs(model_, names_, names_.prefix, how_.n_position)) {
      const Tensor whole = take(pair.ours, pair.shape);
      for (const std::string& tensor : pair.tensors()) {
        Tensor made = rows_for(tensor, pair, whole);
        if (pair.is_linear && names_.is_transposed) made = transposed(made);
        made_.emplace_back(tensor, pair.stays_float32 ? made : made.to(how_.dtype));
      }
    }
    require<IoError>(ours_.empty(), "hub", how_.where,
                     ": expected the tensors of its model alone, got '",
                     ours_.empty() ? "" : ours_.begin()->first, "' too");
    return std::move(made_);
  }

 private:
  static Tensor rows_for(const std::string& tensor, const WeightPair& pair, const Tensor& ours) {
    const Shape shape = pair.shape_of(tensor);
    if (shape == pair.shape && pair.rows.size() == 1) return ours;
    Tensor made = Tensor::empty(shape, DType::f32);
    const int64_t width = made.numel() / shape[0];
    for (const RowPair& rows : pair.rows)
      if (rows.tensor == tensor)
        std::copy_n(ours.data<float>() + rows.ours * width, rows.n * width,
                    made.data<float>() + rows.theirs * width);
    return made;
  }

  static Tensor transposed(const Tensor& weight) {
    const int64_t out = weight.dim(0), in = weight.dim(1);
    Tensor made = Tensor::empty({in, out}, DType::f32);
    const float* const from = weight.data<float>();
    float* const to = made.data<float>();
    for (int64_t o = 0; o < out; ++o)
      for (int64_t i = 0; i < in; ++i) to[i * out + o] = from[o * in + i];
    return made;
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
