#include "data/json_text.h"

#include <utility>

#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

// A scanner of RFC 8259 over one line. Every function returns false where the text is not JSON and
// leaves the position there.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  size_t at() const { return at_; }
  void go_back(size_t at) { at_ = at; }
  int64_t lone_surrogates() const { return lone_surrogates_; }

  char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  bool at_end() const { return at_ == line_.size(); }
  bool take(char c) {
    if (at_end() || line_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
  }

  // A string from its opening quote on; unescaped to the end of `out` unless that is null.
  bool string(std::string* out) {
    if (!take('"')) return false;
    while (true) {
      const size_t run = at_;
      while (!at_end() && line_[at_] != '"' && line_[at_] != '\\' &&
             static_cast<unsigned char>(line_[at_]) >= 0x20)
        ++at_;
      if (out != nullptr) out->append(line_, run, at_ - run);
      if (take('"')) return true;
      if (!take('\\') || !escape(out)) return false;
    }
  }

  // Any value.
  bool value() {
    std::string open;  // the brackets that are open, innermost last
    while (true) {
      skip_space();
      if (take('[')) {
        open += ']';
        skip_space();
        if (peek() != ']') continue;
      } else if (take('{')) {
        open += '}';
        skip_space();
        if (peek() != '}') {
          if (!key(nullptr)) return false;
          continue;
        }
      } else if (!scalar()) {
        return false;
      }
      while (true) {
        if (open.empty()) return true;
        skip_space();
        if (!take(open.back())) break;
        open.pop_back();
      }
      if (!take(',')) return false;
      skip_space();
      if (open.back() == '}' && !key(nullptr)) return false;
    }
  }

  // A string and the colon behind it.
  bool key(std::string* out) {
    if (!string(out)) return false;
    skip_space();
    return take(':');
  }

  // A list of strings, joined with blank lines.
  bool list_of_strings(std::string* out) {
    if (!take('[')) return false;
    skip_space();
    if (take(']')) return true;
    for (bool is_first = true;; is_first = false) {
      if (!is_first) *out += "\n\n";
      skip_space();
      if (!string(out)) return false;
      skip_space();
      if (take(']')) return true;
      if (!take(',')) return false;
    }
  }

 private:
  bool scalar() {
    const char c = peek();
    if (c == '"') return string(nullptr);
    if (c == 't') return word("true");
    if (c == 'f') return word("false");
    if (c == 'n') return word("null");
    return number();
  }

  bool word(std::string_view text) {
    for (const char c : text)
      if (!take(c)) return false;
    return true;
  }

  bool is_digit() const { return peek() >= '0' && peek() <= '9'; }
  bool digits() {
    if (!is_digit()) return false;
    while (is_digit()) ++at_;
    return true;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  bool hex4(uint32_t* code) {
    *code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = static_cast<uint32_t>((c | 0x20) - 'a') + 10;
      } else {
        return false;
      }
      *code = *code << 4 | digit;
    }
    return true;
  }

  // Reads an escape after its backslash.
  bool escape(std::string* out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    if (take('u')) return unicode_escape(out);
    const size_t which = at_end() ? std::string_view::npos : kNames.find(peek());
    if (which == std::string_view::npos) return false;
    ++at_;
    if (out != nullptr) *out += kCharacters[which];
    return true;
  }

  bool unicode_escape(std::string* out) {
    uint32_t code = 0;
    if (!hex4(&code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      // A high surrogate wants a low one right behind it; anything else there stands for itself.
      const size_t behind = at_;
      uint32_t low = 0;
      if (take('\\') && take('u') && hex4(&low) && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      } else if (at_end()) {
        return false;  // its partner may lie behind the cut of the line
      } else {
        at_ = behind;
      }
    }
    if (out == nullptr) return true;
    const bool is_lone = code >= 0xD800 && code < 0xE000;
    lone_surrogates_ += is_lone;
    append_utf8(is_lone ? 0xFFFD : code, *out);
    return true;
  }

  std::string_view line_;
  size_t at_ = 0;
  int64_t lone_surrogates_ = 0;
};

constexpr std::string_view kMeta = "meta";

// The value under the wanted key: takes its text, or skips it.
bool wanted_value(Scanner& scan, JsonText& result) {
  result.text.clear();
  scan.skip_space();
  result.begin = scan.at();
  const int64_t before = scan.lone_surrogates();
  result.has_text = scan.peek() == '"' ? scan.string(&result.text)
                                       : scan.peek() == '[' && scan.list_of_strings(&result.text);
  result.lone_surrogates = scan.lone_surrogates() - before;
  if (!result.has_text && scan.at_end()) return false;  // the line ends here, what there is stays
  if (!result.has_text) {
    result.text.clear();
    scan.go_back(result.begin);
    if (!scan.value()) return false;
  }
  result.end = scan.at();
  return true;
}

// An object; `value` takes, or skips, what stands under each key.
template <class F>
bool object(Scanner& scan, const F& value) {
  scan.skip_space();
  if (!scan.take('{')) return false;
  scan.skip_space();
  std::string name;
  bool is_open = !scan.take('}');
  while (is_open) {
    name.clear();
    scan.skip_space();
    if (!scan.key(&name) || !value(name)) return false;
    scan.skip_space();
    is_open = !scan.take('}');
    if (is_open && !scan.take(',')) return false;
  }
  return true;
}

// The value under "meta" in the Pile: {"pile_set_name": "ArXiv"}, and what else may stand there.
bool meta_value(Scanner& scan, JsonText& result) {
  result.has_subset = false;
  result.subset.clear();
  scan.skip_space();
  if (scan.peek() != '{') return scan.value();
  return object(scan, [&](std::string_view name) {
    if (name != "pile_set_name") return scan.value();
    scan.skip_space();
    result.has_subset = scan.peek() == '"';
    result.subset.clear();
    return result.has_subset ? scan.string(&result.subset) : scan.value();
  });
}

}  // namespace

JsonText json_text(std::string_view line, std::string_view key) {
  JsonText result;
  Scanner scan(line);
  result.is_object = object(scan, [&](std::string_view name) {
    if (name == key) return wanted_value(scan, result);
    return name == kMeta ? meta_value(scan, result) : scan.value();
  });
  if (result.is_object) {
    scan.skip_space();
    result.is_object = scan.at_end();
  }
  result.error_at = scan.at();
  return result;
}

std::vector<JsonKey> json_keys(std::string_view line, size_t most) {
  std::vector<JsonKey> keys;
  Scanner scan(line);
  scan.skip_space();
  bool is_open = scan.take('{');
  JsonText found;
  while (is_open && keys.size() < most) {
    JsonKey key;
    scan.skip_space();
    if (!scan.key(&key.name) || !wanted_value(scan, found)) break;
    if (found.has_text) key.text_bytes = static_cast<int64_t>(found.text.size());
    keys.push_back(std::move(key));
    scan.skip_space();
    is_open = scan.take(',');
  }
  return keys;
}

}  // namespace farfield::data
