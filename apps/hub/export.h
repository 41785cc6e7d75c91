#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "engine/dtype.h"

namespace farfield::hub {

struct ExportRequest {
  std::string run, out;              ///< `out`: the folder, or the file of export_gguf()
  DType dtype = DType::f32;          ///< of the weights: f32 or bf16
  std::optional<int64_t> step = {};  ///< the checkpoint of this step; empty: the newest
};

/// Makes a Hugging Face folder of a run, whose model a class of the transformers library computes:
/// config.json, generation_config.json, model.safetensors, and tokenizer.json and
/// tokenizer_config.json if the run has a tokenizer's file. The folder is complete or absent.
/// Memory is that of the weights, once.
/// Throws    ConfigError for a model that no class computes, saying why, and if the folder is there
///           already; IoError for a damaged run
void export_model(const ExportRequest& request, std::ostream& out);

/// `model export RUN --out FOLDER`: its command line. Returns the exit code.
int export_command(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::hub
