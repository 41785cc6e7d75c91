#pragma once

#include <string>
#include <vector>

#include "apps/hub/exported_run.h"
#include "apps/hub/gguf_architecture.h"
#include "apps/hub/gguf_writer.h"
#include "engine/dtype.h"

namespace farfield::hub {

/// The tensors of a model as an architecture of llama.cpp has them. `dtype` is of the matrices;
/// llama.cpp adds and multiplies by vectors of float32 alone. `where`: the run, for messages.
/// Memory is that of the weights, and one tensor more.
/// Throws    IoError as export_weights()
std::vector<GgufTensor> gguf_weights(const GgufArchitecture& architecture, ExportedRun exported,
                                     const ExportedEncoding& encoding, DType dtype,
                                     const std::string& where);

/// The rows of the heads of a matrix [n_head head_dim, n] or of a bias, with those of components
/// (i, i + head_dim/2) side by side.
Tensor neighbours(const Tensor& rows, int64_t head_dim);

}  // namespace farfield::hub
