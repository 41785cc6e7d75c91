#include "apps/eval/protocols/items.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield::eval {
namespace {

// The value behind "name=" among the parameters, up to the next space; "" when there is none.
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

bool is_of_segments(const ProtocolResult& of) {
  return of.protocol == "last-token" || of.protocol == "cached";
}

}  // namespace

int64_t n_inputs_of(const ProtocolResult& of, int64_t length) {
  return parameter(of, "context") == "L" ? length : length - 1;
}

int64_t first_token_of(const ProtocolResult& of, const LengthResult& cell, size_t item) {
  return item < of.starts.size() ? of.starts[item] : static_cast<int64_t>(item) * cell.length;
}

ItemTokens predicted_by(const ProtocolResult& of, const LengthResult& cell, size_t item) {
  const int64_t first = first_token_of(of, cell, item), length = cell.length;
  if (is_of_segments(of))
    return {.first = first + n_inputs_of(of, number_in(of, "longest", length)), .n = 1};
  const int64_t every = number_in(of, "every", 1);
  const int64_t n_whole = length / every;
  const int64_t n_before = static_cast<int64_t>(item) * n_whole;  // the last chunk may be short
  return {.first = first + every, .n = std::min(n_whole, cell.n_scored - n_before), .every = every};
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

void set_places(LengthResult& cell, const ProtocolResult& of, const TokenStream& text) {
  if (!text.place || !cell.places.empty()) return;
  for (size_t item = 0; item < cell.items.size(); ++item)
    cell.places.push_back(places_text(predicted_by(of, cell, item), text));
}

std::string conventions_of(const ProtocolResult& of, int64_t length) {
  constexpr std::string_view kCounted = " (from 0, documents in document order)";
  if (is_of_segments(of)) {
    const int64_t n_before = n_inputs_of(of, number_in(of, "longest", 1));
    std::string text = concat("first_token: of the segment", kCounted, "; first_token + ", n_before,
                              " is predicted");
    if (of.protocol != "cached") return text;
    const std::string n = length > 0 ? std::to_string(n_inputs_of(of, length))
                          : parameter(of, "context") == "L" ? "L"
                                                            : "L - 1";
    return text + concat("; score_evaluations: t = 1 .. n over the n = ", n, " inputs");
  }
  const std::string l = length > 0 ? std::to_string(length) : "L";
  if (of.protocol == "non-overlapping" || of.protocol == "position-wise") {
    const int64_t every = number_in(of, "every", 1);
    return concat("first_token: the first input of the chunk", kCounted,
                  every > 1 ? concat("; every ", every, "th of the ") : "; the ", l,
                  " tokens behind it are predicted");
  }
  if (of.protocol == "sliding")
    return concat("first_token: the token before the first that the item predicts", kCounted,
                  "; the ", l, " tokens behind it are predicted");
  return "";
}

}  // namespace farfield::eval
