#include "apps/hub/convert.h"

#include <algorithm>
#include <utility>

#include "apps/hub/weight_pairs.h"
#include "engine/base/error.h"
#include "layers/transformer.h"

namespace farfield::hub {
namespace {

constexpr std::string_view kWhere = "hub";

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
    for (const WeightPair& pair : weight_pairs(model_, names_, prefix_, model_.train_len))
      add(pair.ours, read(pair));
    check_all_read();
    return std::move(made_);
  }

 private:
  Tensor read(const WeightPair& pair) {
    const bool is_transposed = pair.is_linear && names_.is_transposed;
    for (const std::string& tensor : pair.tensors()) {
      const Shape shape = pair.shape_of(tensor);
      check_shape(tensor, is_transposed ? Shape{shape[1], shape[0]} : shape);
    }
    return is_transposed ? read_transposed(pair) : read_rows(pair);
  }

  Tensor read_rows(const WeightPair& pair) {
    Tensor made = Tensor::empty(pair.shape, DType::f32);
    const int64_t width = made.numel() / pair.shape[0];
    for (const RowPair& rows : pair.rows)
      files_.read(rows.tensor, rows.theirs * width,
                  {made.data<float>() + rows.ours * width, static_cast<size_t>(rows.n * width)});
    return made;
  }

  // Theirs is one tensor [in, out]: row i holds input i of every output.
  Tensor read_transposed(const WeightPair& pair) {
    const int64_t out = pair.shape[0], in = pair.shape[1];
    Tensor made = Tensor::empty(pair.shape, DType::f32);
    float* const to = made.data<float>();
    std::vector<float> row(static_cast<size_t>(out));
    for (int64_t i = 0; i < in; ++i) {
      files_.read(pair.rows.front().tensor, i * out, row);
      for (const RowPair& rows : pair.rows)
        for (int64_t r = 0; r < rows.n; ++r)
          to[(rows.ours + r) * in + i] = row[static_cast<size_t>(rows.theirs + r)];
    }
    return made;
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
