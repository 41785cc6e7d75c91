#pragma once

#include <string>
#include <vector>

#include "layers/config.h"

namespace farfield::run {

/// Gives the model an architecture as `train --architecture` takes it: what it has otherwise than
/// GPT-NeoX, as words between commas, each of them a family, a switch or KEY=VALUE. Sizes and
/// dropout of the model stay as they are.
///
///     neox  llama  qwen2  bloom  mpt  gpt2
///     norm=layer|rms  norm-eps=X  mlp=gelu|gelu_tanh|relu|swiglu  kv-heads=N  head-dim=N
///     bias=all|none|qkv+dense+mlp+norm  parallel  tied  embedding-norm  no-final-norm
///     scaled-embedding
///
/// Throws    ConfigError [architecture]
void set_architecture(const std::string& text, ModelConfig& model);

/// The families that it knows.
std::vector<std::string> architecture_families();

/// The text for set_architecture() that gives a model this architecture, without names of families;
/// "neox" if it is GPT-NeoX's.
std::string architecture_of(const ModelConfig& model);

}  // namespace farfield::run
