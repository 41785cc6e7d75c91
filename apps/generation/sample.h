#pragma once

#include <cstdint>
#include <string>

#include "apps/generation/request.h"
#include "apps/generation/text_output.h"
#include "data/tokenizer.h"

namespace farfield::generation {

/// One continuation of the prompt, token by token.
class Sample {
 public:
  /// The tokenizer must outlive this.
  Sample(const data::Tokenizer& tokenizer, const Request& request)
      : tokenizer_(tokenizer), is_past_end_(request.past_end), text_(request.stops) {}

  /// Takes the next token; returns what may be shown now.
  std::string add(int32_t id);
  /// The rest, after the last token.
  std::string finish() { return text_.finish(); }

  /// Whether a stop or the end of the document was reached: further tokens are not of the text.
  bool has_ended() const { return is_at_end_ || text_.is_stopped(); }
  /// Tokens until then, the one that ended it included.
  int64_t n_token() const { return n_token_; }
  /// What ended it: "end of document", "stop", or "" if nothing did.
  std::string reason() const;

 private:
  const data::Tokenizer& tokenizer_;
  bool is_past_end_, is_at_end_ = false;
  TextOutput text_;
  int64_t n_token_ = 0;
};

}  // namespace farfield::generation
