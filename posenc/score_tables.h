#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "posenc/composition.h"

namespace farfield::posenc {

/// The effect of an encoding on the scores of one query, by distance: the scaled dot product with
/// the key d tokens before it is multiplied by a weight, then a bias is added. As the attention op
/// reads it: through remapped positions, two branches, masks and biases that depend on the query's
/// place.
struct ScoreTables {
  int64_t n_head = 0, n_key = 0;               ///< keys up to the query itself
  bool has_bias = false, has_weight = false;   ///< else all 0, all 1; a mask is a bias
  std::vector<double> bias = {}, weight = {};  ///< [H, S]; a bias of -inf hides the key
  double bias_at(int64_t head, int64_t distance) const { return bias[index(head, distance)]; }
  double weight_at(int64_t head, int64_t distance) const { return weight[index(head, distance)]; }

 private:
  size_t index(int64_t head, int64_t d) const { return static_cast<size_t>(head * n_key + d); }
};

/// Whether a rule hides pairs by a bias of -inf, which windows do not.
bool hides_by_table(const AttentionRule& rule);

/// Of a rule that was planned for n_query queries, the last of n_key positions, and n_key keys: as
/// the query at `position` reads it, in sequence 0 of the batch.
ScoreTables score_tables(const AttentionRule& rule, int64_t n_head, int64_t n_query, int64_t n_key,
                         int64_t position);
/// Of the last query, the only one that was planned for.
inline ScoreTables score_tables(const AttentionRule& rule, int64_t n_head, int64_t n_key) {
  return score_tables(rule, n_head, 1, n_key, n_key - 1);
}

/// The layers of a model that read their scores in the same way.
struct LayerTables {
  std::vector<int64_t> layers;  ///< rising
  ScoreTables tables;           ///< of the last of n_key tokens
  bool is_by_row = false;       ///< the bias depends on the place of the query
};
enum class SameTables { bias, bias_and_weight };
/// All layers, in evaluation, in the order of the first of each group. Layers are joined where
/// these tables are the same.
std::vector<LayerTables> layer_tables(const Composition& encoding, int64_t n_key, SameTables same,
                                      uint64_t draw = 0);

/// "layer 3", "layers 0-2, 5"
std::string text_of_layers(const std::vector<int64_t>& layers);

}  // namespace farfield::posenc
