#pragma once

#include "layers/config.h"
#include "posenc/encoding.h"

namespace farfield::hub {

/// What the encoding of a model has to know of it.
inline posenc::Config encoding_config(const ModelConfig& model) {
  return {.n_head = model.n_head,
          .head_dim = model.head_dim(),
          .d_model = model.d_model,
          .n_layer = model.n_layer,
          .train_len = model.train_len};
}

}  // namespace farfield::hub
