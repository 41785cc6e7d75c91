#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/eval/scorer.h"

namespace farfield::eval {

/// The values of rows that one model has scored, since several protocols read the same rows. A full
/// memory takes no more rows.
class RowMemory {
 public:
  explicit RowMemory(int64_t max_bytes = int64_t{256} << 20) : free_bytes_(max_bytes) {}

  /// Null for an unknown row.
  const std::vector<float>* find(const std::string& key) const;
  /// Does not store values that float32 does not hold exactly, so that a stored value equals the
  /// computed value.
  void keep(const std::string& key, const double* values, int64_t n);

 private:
  std::map<std::string, std::vector<float>> rows_;
  int64_t free_bytes_;
};

/// A scorer that asks `model` only for rows that are not in the memory, and keeps them there. A row
/// is known by its ids and its targets, so the memory is for one model and one draw of positions;
/// not for an encoding that draws positions for each sequence of a batch. The memory must outlive
/// the result.
Scorer remembering(const Scorer& model, RowMemory& memory);

}  // namespace farfield::eval
