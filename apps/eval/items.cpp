#include "apps/eval/items.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield::eval {
namespace {

// The value behind "name=" among the parameters, up to the next space; "" if the name is missing.
std::string parameter(const ProtocolResult& of, const std::string& name) {
  const std::string text = ' ' + of.parameters + ' ', key = ' ' + name + '=';
  const size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

int64_t number_in(const ProtocolResult& of, const std::string& name, int64_t otherwise) {
  const std::string text = parameter(of, name);
  return text.empty() ? otherwise : std::stoll(text);
}

}  // namespace

int64_t n_inputs_of(const ProtocolResult& of, int64_t length) {
  return parameter(of, "context") == "L" ? length : length - 1;
}

int64_t first_token_of(const ProtocolResult& of, const LengthResult& cell, size_t item) {
  if (item < of.starts.size()) return of.starts[item];
  const auto chunk = static_cast<int64_t>(item);
  const int64_t document_tokens = number_in(of, "documents", 0);
  if (document_tokens == 0) return chunk * cell.length;
  // of a text of as many documents as it takes
  return data::Grid::windows(INT64_MAX, document_tokens, cell.length)[chunk];
}

ItemTokens predicted_by_segment(const ProtocolResult& of, const LengthResult& cell, size_t item) {
  const int64_t longest = number_in(of, "longest", cell.length);
  return {.first = first_token_of(of, cell, item) + n_inputs_of(of, longest), .n = 1};
}

ItemTokens predicted_by_chunk(const ProtocolResult& of, const LengthResult& cell, size_t item) {
  const int64_t every = number_in(of, "every", 1);
  const int64_t n_whole = cell.length / every;
  const int64_t n_before = static_cast<int64_t>(item) * n_whole;  // the last chunk may be short
  return {.first = first_token_of(of, cell, item) + every,
          .n = std::min(n_whole, cell.n_scored - n_before),
          .every = every};
}

std::string places_text(const ItemTokens& tokens, const TokenStream& text) {
  std::string list;
  if (!text.place) return list;
  int64_t begin = -1, end = -1;
  const auto flush = [&] {
    if (begin < 0) return;
    list += concat(list.empty() ? "" : " ", begin);
    if (end > begin) list += concat('-', end);
  };
  for (int64_t i = 0; i < tokens.n; ++i) {
    const int64_t place = text.place(tokens.first + i * tokens.every);
    if (begin < 0 || place != end + 1) {
      flush();
      begin = place;
    }
    end = place;
  }
  flush();
  return list;
}

void set_places(LengthResult& cell, const ProtocolResult& of, const TokenStream& text,
                PredictedBy* predicted) {
  if (!text.place || !cell.places.empty()) return;
  for (size_t item = 0; item < cell.items.size(); ++item)
    cell.places.push_back(places_text(predicted(of, cell, item), text));
}

std::string length_text(int64_t length) { return length > 0 ? std::to_string(length) : "L"; }

std::string first_token_is(const char* what) {
  return concat("first_token: ", what, " (from 0, documents in document order)");
}

std::string conventions_of_segments(const ProtocolResult& of, int64_t) {
  return concat(first_token_is("of the segment"), "; first_token + ",
                n_inputs_of(of, number_in(of, "longest", 1)), " is predicted");
}

std::string conventions_of_chunks(const ProtocolResult& of, int64_t length) {
  const int64_t every = number_in(of, "every", 1);
  return concat(first_token_is("the first input of the chunk"),
                every > 1 ? concat("; every ", every, "th of the ") : "; the ", length_text(length),
                " tokens behind it are predicted");
}

}  // namespace farfield::eval
