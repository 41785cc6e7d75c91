#include "apps/cli/config_file.h"

#include <algorithm>
#include <charconv>

#include "apps/cli/option.h"
#include "apps/cli/printable.h"
#include "engine/base/error.h"

namespace farfield::cli {
namespace {

constexpr std::string_view kWhere = "config", kBlanks = " \t";

// Where a comment begins: a # in front or behind a blank; the size of the text where there is none.
size_t comment_in(std::string_view text) {
  for (size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1))
    if (at == 0 || kBlanks.find(text[at - 1]) != std::string_view::npos) return at;
  return text.size();
}

// The likely intention of a wrong line: "steps: 10", "--steps 10", a flag's name alone.
std::string correction(std::string_view row) {
  row.remove_prefix(std::min(row.find_first_not_of('-'), row.size()));
  const size_t end = row.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.");
  const std::string_view key = row.substr(0, end);
  if (key.empty()) return "";
  if (end == std::string_view::npos) return concat("; a flag is written ", key, " = true");
  const size_t value = row.find_first_not_of(" \t:=", end);
  if (value == end || value == std::string_view::npos) return "";
  return concat("; write ", key, " = ", row.substr(value));
}

// Reads one line of a file.
struct LineReader {
  const std::string& name;
  int64_t number;

  template <class... Parts>
  void check(bool ok, const Parts&... parts) const {
    require<ConfigError>(ok, kWhere, name, ": line ", number, ": ", parts...);
  }

  // Text that begins with a quotation mark.
  std::string unquoted(std::string_view text) const {
    std::string value;
    size_t at = 1;
    for (; at < text.size() && text[at] != '"'; ++at)
      value += text[at] == '\\' ? unescaped(text, at) : text[at];
    check(at < text.size(),
          "expected a quotation mark at the end of the value, got none; one that "
          "begins the value itself is written \\\" between two more");
    const std::string_view rest = trimmed(text.substr(at + 1));
    check(rest.empty() || rest.front() == '#',
          "expected nothing behind the closing quotation mark, got '", rest,
          "'; a quotation mark within the value is written \\\"");
    return value;
  }

  // The byte that the escape at text[at] stands for; `at` moves to the last byte of the escape.
  char unescaped(std::string_view text, size_t& at) const {
    constexpr std::string_view kLetters = "\"\\nrt", kMeanings = "\"\\\n\r\t";
    const std::string_view escape = text.substr(at, 2);
    if (const size_t i = kLetters.find(escape.back()); escape.size() == 2 && i < kLetters.size()) {
      ++at;
      return kMeanings[i];
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(std::min(at + 2, text.size()), 2);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    check(escape == "\\x" && digits.size() == 2 && read.ptr == digits.data() + 2,
          "expected \\\\ for a backslash between quotation marks, or \\\", \\n, \\r, \\t, \\xHH, "
          "got ",
          text.substr(at, 4));
    at += 3;
    return static_cast<char>(byte);
  }

  ConfigLine read(std::string_view row) const {
    constexpr size_t kShown = 80;  // of a file of another kind a line may be anything
    const size_t equals = row.find('=');
    const std::string_view key = trimmed(row.substr(0, equals));
    const bool has_key = equals < comment_in(row) && !key.empty();
    check(has_key, "expected key = value, got '", row.substr(0, kShown),
          row.size() > kShown ? "...'" : concat("'", correction(row.substr(0, comment_in(row)))));
    const std::string_view value = trimmed(row.substr(equals + 1));
    return {std::string(key),
            value.starts_with('"') ? unquoted(value)
                                   : std::string(trimmed(value.substr(0, comment_in(value)))),
            number};
  }
};

bool needs_quotes(std::string_view value) {
  return value.empty() || value.front() == '"' || trimmed(value).size() != value.size() ||
         comment_in(value) != value.size() || value.find('\n') != std::string_view::npos ||
         printable(value) != value;
}

}  // namespace

std::vector<ConfigLine> parse_config(const std::string& name, std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<ConfigLine> lines;
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = trimmed(text.substr(begin, end - begin));
    ++number;
    if (!row.empty() && row.front() != '#') lines.push_back(LineReader{name, number}.read(row));
    begin = end + 1;
  }
  return lines;
}

std::string config_line(std::string_view key, std::string_view value) {
  if (!needs_quotes(value)) return concat(key, " = ", value, '\n');
  std::string quoted;
  for (const char c : value) {
    if (c == '"' || c == '\\')
      quoted.append({'\\', c});
    else if (c == '\n')
      quoted += "\\n";
    else
      quoted += c;
  }
  return concat(key, " = \"", printable(quoted), "\"\n");  // as \xHH what is none
}

}  // namespace farfield::cli
