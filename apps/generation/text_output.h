#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/utf8.h"

namespace farfield::generation {

/// New text on its way out: bytes come in pieces, wherever tokens are cut; whole characters leave,
/// and nothing leaves that may still belong to a text to stop at. Pieces do not change the result.
class TextOutput {
 public:
  /// Stops are UTF-8, none of them empty.
  explicit TextOutput(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

  /// What may be shown now; nothing once it is stopped. Of several stops the one that is complete
  /// first ends the text, of those that end together the longest.
  std::string append(std::string_view bytes);
  /// The text ends: what has waited until now. Bytes of an incomplete character become U+FFFD.
  std::string finish();
  /// Whether the text ended before a stop.
  bool is_stopped() const { return is_stopped_; }

 private:
  std::string release(size_t held);
  /// Cuts the waiting text before a stop that is in it.
  void find_stop();

  std::vector<std::string> stops_;
  Utf8Replacer characters_;
  std::string waiting_;  // whole characters that have not left
  bool is_stopped_ = false;
};

}  // namespace farfield::generation
