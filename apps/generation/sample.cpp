#include "apps/generation/sample.h"

namespace farfield::generation {

std::string Sample::add(int32_t id) {
  if (has_ended()) return "";
  ++n_token_;
  if (id != tokenizer_.end_of_document()) return text_.append(tokenizer_.decode_within({&id, 1}));
  is_at_end_ = !is_past_end_;
  return is_past_end_ ? text_.append("\n\n") : "";
}

std::string Sample::reason() const {
  if (text_.is_stopped()) return "stop";
  return is_at_end_ ? "end of document" : "";
}

}  // namespace farfield::generation
