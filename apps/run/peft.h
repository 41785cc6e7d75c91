#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/run/checkpoint.h"
#include "apps/run/settings.h"

namespace farfield::run {

// The files in which PEFT keeps low-rank adapters: adapter_model.safetensors and
// adapter_config.json. The parts of the QKV projection are one adapter there, of the whole
// projection: the rows of the parts' lora_A one after another, and a lora_B with zeros for the
// parts without an adapter.

/// The tensors of a run with adapters by the names of PEFT. `config` are the settings of the run.
NamedTensors to_peft(const NamedTensors& tensors, const Settings& config);

/// The inverse. IoError [checkpoint] for a tensor that is missing or does not fit the settings.
std::map<std::string, Tensor> from_peft(const std::map<std::string, Tensor>& tensors,
                                        const Settings& config);

/// adapter_config.json
std::string adapter_config_text(const Settings& config);

/// Adds the updates of a run's adapters to weights, by the model's own names: w + scale B A, with
/// rows of the length of their magnitudes, if there are some.
/// Tensors of the run that are no adapters replace the weights of their name.
/// Throws    IoError [checkpoint] for an adapter without its weight
void merge_adapters(const std::map<std::string, Tensor>& adapters, const Settings& config,
                    std::map<std::string, Tensor>& weights);

}  // namespace farfield::run
