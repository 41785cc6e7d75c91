#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/config.h"

namespace farfield::hub {

/// How the rows of the QKV projection lie in a file.
enum class QkvLayout {
  separate,  ///< three tensors
  by_head,   ///< [head][q | k | v], as ours
  by_part    ///< all q, all k, all v
};

/// The names of a family's tensors, without ".weight" and ".bias"; of a layer behind `layers` and
/// its number, as in "model.layers." and ".". Empty: it has none.
struct WeightNames {
  std::string prefix;  ///< that names may lack, as files of the bare decoder do
  std::string embedding, embedding_norm, positions, layers, attention_norm, q, k, v, qkv, dense,
      mlp_norm, gate, up, down, final_norm, head;
  QkvLayout qkv_layout = QkvLayout::separate;
  bool is_transposed = false;  ///< weights of linear layers are [in, out]
  /// Ends of the names of tensors that are not read: tables that code makes anew.
  std::vector<std::string> buffers;
};

/// What a config.json says.
struct Architecture {
  std::string family;  ///< its model_type
  ModelConfig model;
  WeightNames names;
  std::optional<int32_t> end_of_text;  ///< eos_token_id
  std::string dtype;                   ///< of its weights; for people
};

/// Reads the config.json of a model of one of the families(). IoError, naming the file and the key,
/// for a value of another type, and for what is not implemented.
Architecture read_architecture(const std::string& file, std::string_view text);

/// The model_types that are read.
std::vector<std::string> families();

}  // namespace farfield::hub
