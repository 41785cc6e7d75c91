#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace farfield::hub {

/// The model_type of models that our own class computes, and the beginning of their tables' names.
inline constexpr const char* kOwnType = "farfield";
inline constexpr const char* kOwnTables = "gpt_neox.encoding.";

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
  /// Beginning of the names of such tables; empty: none.
  std::string tables = {};
  /// All is under our own names, learned values of the encoding too, which stay in float32.
  bool is_ours = false;
};

/// Those of a family, by its model_type. ConfigError for another.
const WeightNames& weight_names(std::string_view model_type);

}  // namespace farfield::hub
