#pragma once

#include <string>

#include "layers/adapter_config.h"

namespace farfield::run {

/// The adapters that --lora asks for: "rank=16,alpha=32,targets=q,v,dropout=0.1,rslora,dora".
/// Keys may be left out; alpha is then twice the rank. ConfigError [lora] for an unknown key, a
/// value of another form, and what validate() refuses.
AdapterConfig parse_lora(const std::string& text);

/// The text for parse_lora(), without AdapterConfig::also.
std::string to_text(const AdapterConfig& config);

}  // namespace farfield::run
