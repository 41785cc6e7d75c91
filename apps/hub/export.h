#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "engine/dtype.h"

namespace farfield::hub {

/// Whose class computes an exported model.
enum class ClassChoice {
  first_fit,  ///< the library's if one fits, else our own
  stock,      ///< the library's
  own         ///< our own, whose code goes into the folder
};

struct ExportRequest {
  std::string run, out;              ///< `out`: the folder, or the file of export_gguf()
  DType dtype = DType::f32;          ///< of the weights: f32 or bf16
  std::optional<int64_t> step = {};  ///< the checkpoint of this step; empty: the newest
  ClassChoice choice = ClassChoice::first_fit;
  /// Tokens that the tables of our own class reach; empty: kOwnLengths training lengths, or as many
  /// as the encoding reaches
  std::optional<int64_t> length = {};
};
inline constexpr int64_t kOwnLengths = 4;

/// Makes a Hugging Face folder of a run, which from_pretrained() of the transformers library opens:
/// config.json, generation_config.json, model.safetensors, and tokenizer.json and
/// tokenizer_config.json if the run has a tokenizer's file; for our own class its code too, and
/// tables of the encoding among the weights. The folder is complete or absent. Memory is that of
/// the weights, once, and of the tables.
/// Throws    ConfigError for a model that the chosen class does not compute, saying why, for a
///           length that the encoding does not reach or the class has no use for, and if the folder
///           is there already; IoError for a damaged run
void export_model(const ExportRequest& request, std::ostream& out);

/// `model export RUN --out FOLDER`: its command line. Returns the exit code.
int export_command(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::hub
