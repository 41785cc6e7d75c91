#include "data/jsonl.h"

#include <cstring>

#include "data/json_text.h"
#include "data/utf8.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

JsonlReader::JsonlReader(std::unique_ptr<ByteReader> bytes, std::string file, JsonlOptions options)
    : bytes_(std::move(bytes)),
      file_(std::move(file)),
      options_(std::move(options)),
      block_(kBlockBytes) {}

bool JsonlReader::next_line() {
  line_.clear();
  line_offset_ = offset_;
  ++line_number_;
  while (true) {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = bytes_->read(block_.data(), block_.size());
      if (end_ == 0) return offset_ > line_offset_;
    }
    const char* start = block_.data() + begin_;
    const auto* newline = static_cast<const char*>(std::memchr(start, '\n', end_ - begin_));
    const size_t size =
        newline == nullptr ? end_ - begin_ : static_cast<size_t>(newline - start) + 1;
    line_.append(start, size);
    begin_ += size;
    offset_ += static_cast<int64_t>(size);
    if (newline != nullptr) return true;
  }
}

bool JsonlReader::next(std::string& text, Skipped& skipped) {
  while (next_line()) {
    if (line_number_ == 1 && line_.starts_with(kByteOrderMark))
      line_.replace(0, kByteOrderMark.size(), kByteOrderMark.size(), ' ');  // offsets stay right
    if (line_.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    JsonText found = json_text(line_, options_.text_key);
    if (!found.is_object) {
      require<IoError>(options_.skip_bad_lines, "jsonl", file_, ": line ", line_number_,
                       ": expected a JSON object, got something else at byte ", found.error_at + 1,
                       " of the line; --skip-bad-lines leaves such lines out");
      ++skipped.bad_lines;
      continue;
    }
    if (!found.has_text) {
      ++skipped.missing_text;
      continue;
    }
    if (found.text.empty()) {
      ++skipped.empty_documents;
      continue;
    }
    if (options_.is_strict) {
      const std::string_view value =
          std::string_view(line_).substr(found.begin, found.end - found.begin);
      const size_t bad = find_invalid_utf8(value);
      require<IoError>(bad == std::string_view::npos, "jsonl", file_, ": line ", line_number_,
                       ": expected valid UTF-8, got an ill-formed sequence at byte ",
                       line_offset_ + static_cast<int64_t>(found.begin + bad),
                       " of the text of the file; without --strict it is replaced");
    }
    skipped.invalid_utf8 += replace_invalid_utf8(found.text);
    skipped.lone_surrogates += found.lone_surrogates;
    text = std::move(found.text);
    return true;
  }
  return false;
}

}  // namespace farfield::data
