#include "data/source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "data/binary.h"
#include "data/text_file.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;

// True for "x.h" and "h" or ".h"; for "x" and "none".
bool has_ending(const std::string& name, const std::string& ending) {
  if (ending == "none") return name.find('.') == std::string::npos;
  const std::string with_dot = ending.starts_with('.') ? ending : "." + ending;
  return name.size() > with_dot.size() && name.ends_with(with_dot);
}

// Paths below `folder` of the files that are wanted, in the order of their bytes.
std::vector<std::string> list_folder(const fs::path& folder,
                                     const std::vector<std::string>& endings) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    const std::string name = walk->path().filename().string();
    if (name.starts_with('.')) {
      walk.disable_recursion_pending();
      continue;
    }
    std::error_code broken_link;
    if (!walk->is_regular_file(broken_link)) continue;
    if (endings.empty() || std::any_of(endings.begin(), endings.end(),
                                       [&](const std::string& e) { return has_ending(name, e); }))
      names.push_back(walk->path().lexically_relative(folder).string());
  }
  require<IoError>(!error, "data", folder.string(), ": cannot list the folder: ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_standard_input(const fs::path& input) { return input == kStandardInput; }

bool is_jsonl(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") || name.ends_with(".jsonl.gz");
}

constexpr size_t kPeekBytes = 4096;
constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

void append(std::string_view piece, Utf8Replacer& replacer, DocumentBuilder& document) {
  std::string text;
  replacer.append(piece, text);
  document.append(text);
}

void finish(Utf8Replacer& replacer, DocumentBuilder& document) {
  std::string text;
  replacer.finish(text);
  document.append(text);
}

}  // namespace

DocumentReader::DocumentReader(SourceOptions options)
    : options_(std::move(options)), spools_(options_.spool_folder) {
  require<ConfigError>(!options_.inputs.empty(), "data",
                       "expected at least one input; name a file or a folder");
  for (const fs::path& input : options_.inputs) {
    const size_t number = records_.size();
    records_.push_back({input.string(), 0, 0, ""});
    tallies_.emplace_back().is_stopped = options_.is_stopped;
    if (is_standard_input(input)) {
      require<ConfigError>(std::count(options_.inputs.begin(), options_.inputs.end(), input) == 1,
                           "data", "expected standard input once among the inputs, got it twice");
      files_.push_back({"", number});
      continue;
    }
    std::error_code error;
    const fs::file_status status = fs::status(input, error);
    require<ConfigError>(fs::exists(status), "data", input.string(),
                         ": expected a file or a folder, got nothing of that name");
    if (fs::is_directory(status)) {
      for (const std::string& name : list_folder(input, options_.endings))
        files_.push_back({name, number});
      require<ConfigError>(!files_.empty() && files_.back().input == number, "data", input.string(),
                           ": expected a folder with text files",
                           options_.endings.empty() ? "" : " of the wanted endings",
                           ", got none; change the endings or the folder");
    } else {
      require<ConfigError>(fs::is_regular_file(status), "data", input.string(),
                           ": expected a file or a folder, got something else");
      files_.push_back({"", number});
    }
  }
  bool is_known = true;
  for (const File& file : files_) {
    struct stat info {};
    const bool is_stdin = is_standard_input(options_.inputs[file.input]);
    const int status =
        is_stdin ? ::fstat(STDIN_FILENO, &info) : ::stat(path_of(file).c_str(), &info);
    if (status == 0) bytes_total_ += info.st_size;
    is_known = is_known && (!is_stdin || S_ISREG(info.st_mode));
  }
  if (!is_known) bytes_total_ = 0;
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

bool DocumentReader::next_any(DocumentBuilder& document, size_t wanted) {
  while (true) {
    if (lines_ != nullptr) {
      if (next_line(document, wanted)) return true;
      lines_.reset();
    }
    if (next_file_ == files_.size()) return false;
    if (next_of_file(files_[next_file_++], document, wanted)) return true;
  }
}

bool DocumentReader::next_line(DocumentBuilder& document, size_t wanted) {
  std::string text;
  if (!lines_->next_raw(text, skipped_, wanted)) return false;
  if (text.size() <= options_.most_in_memory) {
    skipped_.invalid_utf8 += replace_invalid_utf8(text);
    document.set(std::move(text));
    return true;
  }
  Utf8Replacer replacer;
  for (size_t at = 0; at < text.size(); at += kPieceBytes)
    append(std::string_view(text).substr(at, kPieceBytes), replacer, document);
  finish(replacer, document);
  skipped_.invalid_utf8 += replacer.n_replaced();
  return true;
}

// Opens the file; true when it is one document, now in `document`.
bool DocumentReader::next_of_file(const File& file, DocumentBuilder& document, size_t wanted) {
  const fs::path path = path_of(file);
  const bool is_stdin = is_standard_input(path);
  const std::string name = is_stdin ? "standard input" : path.string();
  const bool is_named = file.name.empty();  // not one of a folder
  const JsonlOptions& options = options_.jsonl;
  Tally& tally = tallies_[file.input];
  ++records_[file.input].files;
  // The closing NUL keeps the name apart from the bytes behind it.
  if (!is_named) tally.hasher.update(file.name.c_str(), file.name.size() + 1);
  auto bytes = open_reader(path, tally);
  bool has_lines = options_.format == InputFormat::jsonl || is_jsonl(path);
  if (options_.format == InputFormat::by_name && is_stdin) {
    auto peek = std::make_unique<PeekReader>(std::move(bytes));
    const std::string_view first = peek->peek(kPeekBytes);
    const size_t at = first.find_first_not_of(" \t\r\n", first.starts_with(kByteOrderMark) ? 3 : 0);
    has_lines = at != std::string_view::npos && first[at] == '{';
    bytes = std::move(peek);
  }
  if (has_lines && options_.format != InputFormat::text) {
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
                             [&](std::string_view piece) { append(piece, replacer, document); });
  finish(replacer, document);
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
    return false;
  }
  skipped_.invalid_utf8 += replacer.n_replaced();
  skipped_.empty_documents += document.size() == 0;
  return document.size() > 0;
}

}  // namespace farfield::data
