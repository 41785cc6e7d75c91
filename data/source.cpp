#include "data/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "data/binary.h"
#include "data/folder_files.h"
#include "data/json_kind.h"
#include "data/manifest.h"
#include "data/text_file.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_error.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

bool is_jsonl(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") || name.ends_with(".jsonl.gz");
}

constexpr size_t kPeekBytes = 4096;
constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The same pipe or terminal, whatever name leads to it.
bool is_same_stream(const fs::path& a, const fs::path& b) {
  struct stat of_a {
  }, of_b{};
  const auto look = [](const fs::path& path, struct stat& info) {
    return (path == kStandardInput ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info)) ==
           0;
  };
  return a == b || (look(a, of_a) && look(b, of_b) && !S_ISREG(of_a.st_mode) &&
                    of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

}  // namespace

DocumentReader::DocumentReader(SourceOptions options)
    : options_(std::move(options)), spools_(options_.spool_folder) {
  require<ConfigError>(!options_.inputs.empty(), "data",
                       "expected at least one input; name a file or a folder");
  for (const fs::path& input : options_.inputs) add_input(input);
  part_ = part_of(files_.front());
  bool is_known = true;
  for (const File& file : files_) {
    struct stat info {};
    const fs::path path = path_of(file);
    const int status =
        path == kStandardInput ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info);
    if (status == 0) bytes_total_ += info.st_size;
    is_known = is_known && (status != 0 || S_ISREG(info.st_mode));
  }
  if (!is_known) bytes_total_ = 0;
}

void DocumentReader::add_input(const fs::path& input) {
  const size_t number = records_.size();
  SourceRecord& record = records_.emplace_back();
  record.path = input.string();
  tallies_.emplace_back().is_stopped = options_.is_stopped;
  if (is_stream(input)) {
    for (size_t i = 0; i < number; ++i)
      require<ConfigError>(!is_same_stream(options_.inputs[i], input), "data",
                           "expected standard input, or a pipe, once among the inputs, got it "
                           "twice");
    files_.push_back({"", number});
    return;
  }
  const fs::file_status status = status_of(input);
  require<ConfigError>(fs::exists(status), "data", input.string(),
                       ": expected a file or a folder, got nothing of that name");
  if (fs::is_directory(status)) {
    require<ConfigError>(!is_corpus_folder(input), "data", input.string(),
                         ": expected text, got a corpus made by prepare; name the text that it was "
                         "made of");
    const size_t n_before = files_.size();
    for (const std::string& name :
         files_of_folder(input, {options_.endings, options_.output}, skipped_.files))
      files_.push_back({name, number});
    require<ConfigError>(files_.size() > n_before, "data", input.string(),
                         ": expected a folder with text files",
                         options_.endings.empty() ? "" : " of the wanted endings",
                         ", got none; change the endings or the folder");
    return;
  }
  require<ConfigError>(fs::is_regular_file(status), "data", input.string(),
                       ": expected a file or a folder, got something else");
  if (::faccessat(AT_FDCWD, input.c_str(), R_OK, AT_EACCESS) != 0) fail_errno(input, "open");
  files_.push_back({"", number});
}

size_t DocumentReader::part_of(const File& file) const {
  return options_.parts.empty() ? 0 : options_.parts.at(file.input);
}

fs::path DocumentReader::path_of(const File& file) const {
  const fs::path& input = options_.inputs[file.input];
  return file.name.empty() ? input : input / file.name;
}

int64_t DocumentReader::bytes_read() const {
  int64_t sum = 0;
  for (const Tally& tally : tallies_) sum += tally.size_bytes;
  return sum;
}

std::vector<SourceRecord> DocumentReader::records() const {
  std::vector<SourceRecord> records = records_;
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].size_bytes = tallies_[i].size_bytes;
    records[i].hash = tallies_[i].hasher.hex();
  }
  return records;
}

bool DocumentReader::next(std::string& text) {
  Document document;
  if (!next(document)) return false;
  text = document.take_text();
  return true;
}

bool DocumentReader::next(Document& document) {
  while (!next_of_part(document)) {
    end_file();
    for (; next_file_ < files_.size() && part_of(files_[next_file_]) == part_; ++next_file_)
      ++records_[files_[next_file_].input].unread_files;
    if (next_file_ == files_.size()) return false;
    part_ = part_of(files_[next_file_]);
    text_bytes_ = 0;
    is_full_ = false;
  }
  document.set_part(part_);
  return true;
}

bool DocumentReader::next_of_part(Document& document) {
  while (!is_full_) {
    const size_t left =
        options_.max_bytes > 0 ? static_cast<size_t>(options_.max_bytes - text_bytes_) : SIZE_MAX;
    DocumentBuilder builder(spools_, {.most_in_memory = options_.most_in_memory,
                                      .most_kept = left,
                                      .wants_content = options_.drop_duplicates});
    if (!next_any(builder, options_.drop_duplicates ? SIZE_MAX : left)) return false;
    if (options_.drop_duplicates && !seen_.insert(builder.content()).second) {
      ++skipped_.duplicates;
      continue;
    }
    document = builder.finish();
    if (options_.max_bytes > 0) {
      is_full_ = builder.size() >= left;
      text_bytes_ += static_cast<int64_t>(document.size());
      if (document.size() == 0) return false;
    }
    return true;
  }
  return false;
}

// The next document of this part of the inputs.
bool DocumentReader::next_any(DocumentBuilder& document, size_t wanted) {
  while (true) {
    if (lines_ != nullptr) {
      if (next_line(document, wanted)) return true;
      lines_.reset();
    }
    if (next_file_ == files_.size() || part_of(files_[next_file_]) != part_) return false;
    if (next_of_file(files_[next_file_++], document, wanted)) return true;
  }
}

bool DocumentReader::next_line(DocumentBuilder& document, size_t wanted) {
  std::string text;
  if (!lines_->next_raw(text, skipped_, wanted)) return false;
  if (text.size() <= options_.most_in_memory) {
    const int64_t n_replaced = replace_invalid_utf8(text);
    see_replaced(text, n_replaced);
    skipped_.invalid_utf8 += n_replaced;
    document.set(std::move(text));
    return true;
  }
  Utf8Replacer replacer;
  for (size_t at = 0; at < text.size(); at += kPieceBytes)
    add_text(std::string_view(text).substr(at, kPieceBytes), replacer, document);
  finish_text(replacer, document);
  skipped_.invalid_utf8 += replacer.n_replaced();
  return true;
}

void DocumentReader::see_replaced(std::string_view text, int64_t n_replaced) {
  if (n_replaced == 0 || current_.has_valid) return;
  const auto n_characters = std::count_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xC0; });
  current_.has_valid = n_characters > n_replaced;
}

void DocumentReader::add_text(std::string_view piece, Utf8Replacer& replacer,
                              DocumentBuilder& document) {
  std::string text;
  const int64_t before = replacer.n_replaced();
  replacer.append(piece, text);
  see_replaced(text, replacer.n_replaced() - before);
  document.append(text);
}

void DocumentReader::finish_text(Utf8Replacer& replacer, DocumentBuilder& document) {
  std::string text;
  replacer.finish(text);
  document.append(text);
}

std::array<int64_t, 4> DocumentReader::counts_of_lost() const {
  return {skipped_.bad_lines, skipped_.missing_text, skipped_.lone_surrogates,
          skipped_.invalid_utf8};
}

// Adds the notes on the finished file.
void DocumentReader::end_file() {
  lines_.reset();
  if (!std::exchange(current_.is_open, false)) return;
  std::array<int64_t, 4> n = counts_of_lost();
  for (size_t i = 0; i < n.size(); ++i) n[i] -= current_.before[i];
  std::vector<std::string> lost;
  const auto add = [&](int64_t count, const char* what, const char* reason = "") {
    if (count > 0) lost.push_back(concat(what, ": ", count, reason));
  };
  add(n[0], "lines that are not JSON, left out");
  add(n[1], "objects without text, left out");
  add(n[2], "lone surrogates, replaced by U+FFFD");
  add(n[3], "sequences that are not UTF-8, replaced by U+FFFD",
      current_.has_valid ? " (damaged, or in two encodings)"
                         : " (Latin-1 or the like: iconv -f LATIN1 -t UTF-8)");
  if (!lost.empty())
    skipped_.files.add({FileNote::Kind::changed, current_.name, "has " + joined(lost, "; ")});
}

// Whether the file, whose bytes these are, holds a document a line.
bool DocumentReader::has_lines(const File& file, std::unique_ptr<ByteReader>& bytes) {
  const fs::path path = path_of(file);
  if (options_.format != InputFormat::by_name) return options_.format == InputFormat::jsonl;
  if (is_jsonl(path)) return true;
  const bool may_come_late = is_stream(path);
  auto peek = std::make_unique<PeekReader>(std::move(bytes), /*fills=*/!may_come_late);
  bool found = false;
  std::string remark;
  if (may_come_late) {
    const std::string_view first = peek->peek(kPeekBytes);
    const size_t at = first.find_first_not_of(" \t\r\n", first.starts_with(kByteOrderMark) ? 3 : 0);
    found = at != std::string_view::npos && first[at] == '{';
  } else if (is_json_lines(*peek, options_.jsonl.text_key)) {
    found = true;
    remark = "holds JSON Lines: each line is a document (--input-format text reads it as one text)";
  } else {
    remark = plain_text_remark(path, peek->peek(kPeekBytes));
  }
  if (!remark.empty()) skipped_.files.add({FileNote::Kind::read_as, path.string(), remark});
  bytes = std::move(peek);
  return found;
}

// Opens the file; true when it is one document, now in `document`.
bool DocumentReader::next_of_file(const File& file, DocumentBuilder& document, size_t wanted) {
  end_file();
  const fs::path path = path_of(file);
  const std::string name = path == kStandardInput ? "standard input" : path.string();
  const bool is_named = file.name.empty();  // not one of a folder
  const JsonlOptions& options = options_.jsonl;
  Tally& tally = tallies_[file.input];
  ++records_[file.input].files;
  current_ = {name, counts_of_lost(), false, true};
  // The closing NUL keeps the name apart from the bytes behind it.
  if (!is_named) tally.hasher.update(file.name.c_str(), file.name.size() + 1);
  auto bytes = open_reader(path, tally);
  if (has_lines(file, bytes)) {
    lines_ = std::make_unique<JsonlReader>(std::move(bytes), name, options);
    return false;
  }
  if (!options.subsets.empty()) {
    require<ConfigError>(!is_named, "data", name,
                         ": expected JSON Lines, of which --subset takes a part, got text");
    ++skipped_.other_subsets;
    return false;
  }
  Utf8Replacer replacer;
  FileText found = read_text(*bytes, name, tally,
                             {.wanted = wanted,
                              .to_the_end = !is_named,  // a NUL anywhere leaves the file out
                              .allow_binary = options.allow_binary,
                              .max_expanded_bytes = options.max_line_bytes},
                             [&](std::string_view piece) { add_text(piece, replacer, document); });
  finish_text(replacer, document);
  const size_t bad = replacer.first_invalid();
  require<IoError>(!options.is_strict || !found.binary.empty() || bad == std::string::npos, "data",
                   name, ": expected valid UTF-8, got an ill-formed sequence at byte ", bad,
                   " of its text; without --strict it is replaced");
  if (!options.allow_binary && is_mostly_invalid(replacer.n_replaced(), found.size))
    found.binary = kMostlyInvalid;
  if (!found.binary.empty()) {
    document.clear();
    if (is_named) refuse_binary(name, found.binary);
    ++skipped_.binary_files;
    skipped_.files.add({FileNote::Kind::left_out, name, "is left out: " + found.binary});
    return false;
  }
  skipped_.invalid_utf8 += replacer.n_replaced();
  skipped_.empty_documents += document.size() == 0;
  return document.size() > 0;
}

}  // namespace farfield::data
