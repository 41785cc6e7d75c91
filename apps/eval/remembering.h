#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/eval/scorer.h"

namespace farfield::eval {

/// What one model made of rows that it has scored: several protocols read the same ones. When it is
/// full nothing more is taken in.
class RowMemory {
 public:
  explicit RowMemory(int64_t max_bytes = int64_t{256} << 20) : free_bytes_(max_bytes) {}

  /// Null for a row that is not there.
  const std::vector<float>* find(const std::string& key) const;
  /// Values that float32 does not hold exactly are left alone, so that what is remembered is what
  /// was computed.
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
