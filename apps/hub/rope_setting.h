#pragma once

#include <string>

#include "apps/hub/config_reader.h"

namespace farfield::hub {

/// The rotary encoding that a config asks for, as an expression: by rope_parameters, or by
/// rope_theta and rope_scaling of older versions.
struct RopeDefaults {
  double theta = 10000;
  double rotary_pct = 1;
  std::string theta_key = "rope_theta";  ///< outside of rope_parameters
  std::string rotary_pct_key = {};
};
/// "none" where it rotates no component. `train_len`: max_position_embeddings. IoError for kinds
/// that are not implemented.
std::string rope_expression(ConfigReader& config, int64_t train_len, const RopeDefaults& defaults);

}  // namespace farfield::hub
