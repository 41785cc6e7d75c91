#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/file_notes.h"
#include "data/json_text.h"

namespace farfield::data {

/// Counts of text that was left out or changed while reading.
struct Skipped {
  int64_t bad_lines = 0;     ///< JSONL lines that are not a JSON object
  int64_t missing_text = 0;  ///< objects without a string, or list of strings, under the text key
  int64_t empty_documents = 0;
  int64_t duplicates = 0;
  int64_t other_subsets = 0;    ///< documents of none of the subsets that were asked for
  int64_t binary_files = 0;     ///< files of a folder that look binary
  int64_t invalid_utf8 = 0;     ///< ill-formed sequences, replaced by U+FFFD
  int64_t lone_surrogates = 0;  ///< in JSON escapes, replaced by U+FFFD
  /// The files that were left out, changed or read in another way than their names say.
  FileNotes files;
  /// Keys of objects without text under the text key, a few of them, for messages; text_bytes is
  /// summed over objects.
  std::vector<JsonKey> other_keys;
  /// Names of subsets that were seen, where some were asked for: a few of the others, for messages.
  std::set<std::string> seen_subsets;
};

/// The counts under their names, for tables and manifests.
inline std::vector<std::pair<std::string_view, int64_t>> named_counts(const Skipped& s) {
  std::vector<std::pair<std::string_view, int64_t>> counts = {
      {"bad_lines", s.bad_lines},
      {"missing_text", s.missing_text},
      {"empty_documents", s.empty_documents},
      {"duplicates", s.duplicates},
      {"binary_files", s.binary_files},
      {"invalid_utf8", s.invalid_utf8},
      {"lone_surrogates", s.lone_surrogates}};
  // Only where it occurs, so that the manifests of other corpora stay as they always were.
  if (s.other_subsets > 0) counts.emplace_back("other_subsets", s.other_subsets);
  return counts;
}

}  // namespace farfield::data
