#pragma once

#include <string>
#include <vector>

#include "apps/analysis/effective_length.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

/// The positional bias of one head by distance, in logits.
struct Kernel {
  std::string of;            ///< "h3"; where layers differ "layers 0-10 h3". Heads count from 1
  std::vector<double> bias;  ///< [n]: entry d is added to the score of the key d tokens before
  /// Only for families whose formula gives the effective length: the length for these parameters.
  bool has_closed_form = false;
  analysis::Reach closed_form = {};

  double at(int64_t d) const { return bias[static_cast<size_t>(d)]; }
};

struct Kernels {
  std::vector<Kernel> heads;  ///< empty for an encoding without a bias by distance
  std::string remark;         ///< facts that the numbers do not show; or empty
};

/// The kernels of a model's encoding, in float64, as the last of n_distance tokens sees them.
/// Layers with the same tables are joined; layers without a bias are left out and named in the
/// remark.
///
/// Throws    ConfigError for a length that the encoding cannot reach; IoError bad_parameter
Kernels kernels_of(const Transformer& model, int64_t n_distance, uint64_t draw = kFirstDraw);

/// Measures one cell without a length on the kernels of a subject; Without kernels `score` is not
/// called, and the remark becomes the cell's remark. A number that is not finite makes the cell
/// fail.
void measure_kernels(ProtocolResult& result, const Subject& subject, int64_t n_distance,
                     const std::function<void(const std::vector<Kernel>&, LengthResult&)>& score);

}  // namespace farfield::eval
