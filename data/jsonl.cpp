#include "data/jsonl.h"

#include <algorithm>
#include <cstring>

#include "data/binary.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr size_t kFirstLookBytes = size_t{1} << 20;
// Behind the bytes that are wanted: room for a character that was cut.
constexpr size_t kMoreThanWanted = 16;
constexpr size_t kLongLineBytes = size_t{32} << 20;
constexpr size_t kMostKeys = 16;
constexpr size_t kMostSubsets = 64;
constexpr int64_t kMostObjectsWithKeys = 100;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Adds the keys of a line to the keys seen so far.
void note_keys(std::string_view line, std::vector<JsonKey>& seen) {
  for (JsonKey& key : json_keys(line, kMostKeys)) {
    const auto same = std::find_if(seen.begin(), seen.end(),
                                   [&](const JsonKey& other) { return other.name == key.name; });
    if (same == seen.end() && seen.size() < kMostKeys)
      seen.push_back(std::move(key));
    else if (same != seen.end() && key.text_bytes > 0)
      same->text_bytes = std::max(same->text_bytes, int64_t{0}) + key.text_bytes;
  }
}

// A key for a terminal: nothing that moves its cursor, and not a page of it.
std::string shown(std::string name) {
  constexpr size_t kMostBytes = 40;
  const bool is_long = name.size() > kMostBytes;
  cut_utf8(name, kMostBytes);
  replace_invalid_utf8(name);
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') c = '?';
  return concat('\'', name, is_long ? "..." : "", '\'');
}

}  // namespace

JsonlReader::JsonlReader(std::unique_ptr<ByteReader> bytes, std::string file, JsonlOptions options)
    : bytes_(std::move(bytes)),
      file_(std::move(file)),
      options_(std::move(options)),
      block_(kBlockBytes) {}

bool JsonlReader::fill_block() {
  begin_ = 0;
  end_ = bytes_->read(block_.data(), block_.size());
  if (offset_ == 0 && !options_.allow_binary) {
    const std::string_view first(block_.data(), end_);
    const std::string binary = known_binary(first);
    if (!binary.empty()) refuse_binary(file_, binary);
    if (is_mostly_invalid(count_invalid_utf8(first), first.size()))
      refuse_binary(file_, kMostlyInvalid);
  }
  return end_ > 0;
}

void JsonlReader::blank_byte_order_mark() {
  if (line_number_ == 1 && line_.starts_with(kByteOrderMark))
    line_.replace(0, kByteOrderMark.size(), kByteOrderMark.size(), ' ');  // offsets stay right
}

// Whether the line so far has as much of the text as is wanted. Looks again when it has doubled, so
// that a line is not gone through too often.
bool JsonlReader::has_wanted(size_t wanted) {
  const size_t enough = wanted + kMoreThanWanted;
  // Members behind the text may show that the document is not wanted.
  if (wanted >= SIZE_MAX - kFirstLookBytes || line_.size() < next_look_ ||
      !options_.subsets.empty())
    return false;
  next_look_ = 2 * line_.size();
  blank_byte_order_mark();
  cut_ = json_text(line_, options_.text_key);
  is_cut_ = !cut_.is_object && cut_.error_at == line_.size() && cut_.text.size() >= enough;
  return is_cut_;
}

bool JsonlReader::next_line(size_t wanted) {
  line_.clear();
  next_look_ = kFirstLookBytes + (wanted < SIZE_MAX - kFirstLookBytes ? wanted : 0);
  line_offset_ = offset_;
  ++line_number_;
  while (true) {
    if (begin_ == end_) {
      if (has_wanted(wanted)) return true;
      if (!fill_block()) return offset_ > line_offset_;
    }
    const char* start = block_.data() + begin_;
    const auto* newline = static_cast<const char*>(std::memchr(start, '\n', end_ - begin_));
    const size_t size =
        newline == nullptr ? end_ - begin_ : static_cast<size_t>(newline - start) + 1;
    const size_t length = line_.size() + size - (newline != nullptr);
    if (options_.max_line_bytes > 0 && length > static_cast<size_t>(options_.max_line_bytes)) {
      next_look_ = 0;
      if (has_wanted(wanted)) return true;
      fail<IoError>("jsonl", file_, ": line ", line_number_, ": expected a line of at most ",
                    options_.max_line_bytes,
                    " bytes, got a longer one; --max-line BYTES takes longer ones if memory "
                    "suffices, --max-line 0 any");
    }
    line_.append(start, size);
    begin_ += size;
    offset_ += static_cast<int64_t>(size);
    if (newline != nullptr) return true;
  }
}

// With `strict`: the value as it stands in the file. Where the line was cut, its last character may
// be.
void JsonlReader::check_utf8(const JsonText& found) const {
  const size_t end = is_cut_ ? line_.size() : found.end;
  const std::string_view value = std::string_view(line_).substr(found.begin, end - found.begin);
  const size_t bad = find_invalid_utf8(value);
  const bool is_valid =
      bad == std::string_view::npos || (is_cut_ && value.size() - bad < kMoreThanWanted);
  require<IoError>(is_valid, "jsonl", file_, ": line ", line_number_,
                   ": expected valid UTF-8, got an ill-formed sequence at byte ",
                   line_offset_ + static_cast<int64_t>(found.begin + bad),
                   " of the text of the file; without --strict it is replaced");
}

bool JsonlReader::is_wanted_subset(const JsonText& found, Skipped& skipped) const {
  if (options_.subsets.empty()) return true;
  const bool is_wanted =
      found.has_subset && std::find(options_.subsets.begin(), options_.subsets.end(),
                                    found.subset) != options_.subsets.end();
  skipped.other_subsets += !is_wanted;
  if (found.has_subset && (is_wanted || skipped.seen_subsets.size() < kMostSubsets))
    skipped.seen_subsets.insert(found.subset);
  return is_wanted;
}

bool JsonlReader::next(std::string& text, Skipped& skipped, size_t wanted) {
  if (!next_raw(text, skipped, wanted)) return false;
  skipped.invalid_utf8 += replace_invalid_utf8(text);
  return true;
}

bool JsonlReader::next_raw(std::string& text, Skipped& skipped, size_t wanted) {
  while (!is_cut_ && next_line(wanted)) {
    blank_byte_order_mark();
    if (line_.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    JsonText found = is_cut_ ? std::move(cut_) : json_text(line_, options_.text_key);
    if (!found.is_object && !is_cut_) {
      require<IoError>(options_.skip_bad_lines, "jsonl", file_, ": line ", line_number_,
                       ": expected a JSON object, got something else at byte ", found.error_at + 1,
                       " of the line; --skip-bad-lines skips such lines");
      ++skipped.bad_lines;
      continue;
    }
    if (!is_wanted_subset(found, skipped)) continue;
    if (!found.has_text && !is_cut_) {
      if (skipped.missing_text++ < kMostObjectsWithKeys) note_keys(line_, skipped.other_keys);
      continue;
    }
    if (found.text.empty()) {
      ++skipped.empty_documents;
      continue;
    }
    if (options_.is_strict) check_utf8(found);
    if (is_cut_) cut_utf8(found.text, wanted + 4);
    skipped.lone_surrogates += found.lone_surrogates;
    text = std::move(found.text);
    if (line_.capacity() > kLongLineBytes)
      line_ = {};  // of 256 MiB, say: not while the text is used
    return true;
  }
  return false;
}

std::string missing_text_hint(const Skipped& skipped, const std::string& text_key) {
  if (skipped.missing_text == 0) return "";
  std::vector<JsonKey> keys = skipped.other_keys;
  std::stable_sort(keys.begin(), keys.end(),
                   [](const JsonKey& a, const JsonKey& b) { return a.text_bytes > b.text_bytes; });
  const std::string names = joined(keys, ", ", [](const JsonKey& key) { return shown(key.name); });
  std::string hint =
      concat(skipped.missing_text, skipped.missing_text == 1 ? " object has" : " objects have",
             " no text under ", shown(text_key), names.empty() ? "" : "; keys seen: ", names);
  // Only a name that a shell takes as it is.
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  if (!keys.empty() && keys.front().text_bytes > 0 && keys.front().name != text_key &&
      keys.front().name.find_first_not_of(kPlain) == std::string::npos)
    hint += "; try --text-key " + keys.front().name;
  return hint;
}

std::string missing_subsets_hint(const Skipped& skipped, const std::vector<std::string>& subsets) {
  std::vector<std::string> seen(skipped.seen_subsets.begin(), skipped.seen_subsets.end());
  std::string hint;
  for (const std::string& name : subsets) {
    if (skipped.seen_subsets.contains(name)) continue;
    if (!hint.empty()) hint += '\n';
    hint += concat("no document has the subset ", shown(name), " in meta.pile_set_name",
                   did_you_mean(name, seen));
    if (!seen.empty()) hint += "; seen: " + joined(seen, ", ", shown);
  }
  return hint;
}

}  // namespace farfield::data
