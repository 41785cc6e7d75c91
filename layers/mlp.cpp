#include "layers/mlp.h"

namespace farfield {

Mlp Mlp::make(const Initializer& init, const std::string& name, int64_t d_model, int64_t d_ff,
              double up_std, double down_std) {
  return {.up = Linear::make(init, name + ".dense_h_to_4h", d_model, d_ff, up_std),
          .down = Linear::make(init, name + ".dense_4h_to_h", d_ff, d_model, down_std)};
}

void Mlp::visit(const std::string& name, const Visit& f) const {
  up.visit(name + ".dense_h_to_4h", f);
  down.visit(name + ".dense_4h_to_h", f);
}

}  // namespace farfield
