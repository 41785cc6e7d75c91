#include "data/json_kind.h"

#include <algorithm>

#include "data/json_text.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPeekBytes = 4096;
constexpr size_t kMostPeeked = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view without_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// From the first character on that is no blank; empty without one.
std::string_view from_first(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

}  // namespace

bool is_json_lines(PeekReader& text, std::string_view text_key) {
  std::string_view begin, next;
  size_t end = std::string_view::npos;  // of the first line
  bool is_whole = false;
  for (size_t n = kPeekBytes; n <= kMostPeeked && !is_whole; n *= 4) {
    const std::string_view peeked = text.peek(n);
    is_whole = peeked.size() < n;
    begin = from_first(without_mark(peeked));
    if (!begin.empty() && begin.front() != '{') return false;
    end = begin.find('\n');
    next = end == std::string_view::npos ? std::string_view() : from_first(begin.substr(end));
    if (!next.empty()) break;
  }
  if (begin.empty()) return false;
  const std::string_view line = begin.substr(0, end);
  const JsonText found = json_text(line, text_key);
  if (end == std::string_view::npos && !is_whole)  // it goes on
    return !found.is_object && found.error_at == line.size() && !found.text.empty();
  const bool has_second = next.starts_with('{');
  if (found.is_object) return found.has_text || has_second;
  // A first line that is damaged, or has NaN, as Python writes it: the reader says what to do.
  return has_second && line.starts_with("{\"") && trimmed(line).ends_with('}') &&
         next.starts_with("{\"");
}

std::string plain_text_remark(const fs::path& path, std::string_view begin) {
  fs::path name = path.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  if (name.extension() == ".csv" || name.extension() == ".tsv")
    return "is a table; read as plain text (one column as JSON Lines makes its cells documents)";
  if (name.extension() != ".json") return "";
  const std::string_view first = from_first(without_mark(begin));
  if (first.starts_with('['))
    return "is JSON but not JSON Lines; read as plain text (jq -c '.[]' makes a line of each "
           "element)";
  if (first.starts_with('{'))
    return "is JSON but not JSON Lines; read as plain text (jq -c . makes one line of it)";
  return "";
}

}  // namespace farfield::data
