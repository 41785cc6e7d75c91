#pragma once

#include "layers/linear.h"

namespace farfield {

/// down(gelu(up(x))), GELU in its erf form.
struct Mlp {
  Linear up;    ///< [d_ff, D]
  Linear down;  ///< [D, d_ff]

  static Mlp make(const Initializer& init, const std::string& name, int64_t d_model, int64_t d_ff,
                  double up_std, double down_std);
  /// x [..., D] -> [..., D]
  Tensor operator()(const Tensor& x) const { return down(up(x, Activation::gelu)); }
  void visit(const std::string& name, const Visit& f) const;
};

}  // namespace farfield
