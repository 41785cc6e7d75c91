#include "data/source.h"

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

bool is_jsonl(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") || name.ends_with(".jsonl.gz");
}

}  // namespace

DocumentReader::DocumentReader(SourceOptions options) : options_(std::move(options)) {
  require<ConfigError>(!options_.inputs.empty(), "data",
                       "expected at least one input; name a file or a folder");
  for (const fs::path& input : options_.inputs) {
    const size_t number = records_.size();
    std::error_code error;
    const fs::file_status status = fs::status(input, error);
    require<ConfigError>(fs::exists(status), "data", input.string(),
                         ": expected a file or a folder, got nothing of that name");
    if (fs::is_directory(status)) {
      for (const std::string& name : list_folder(input, options_.endings))
        files_.push_back({input / name, name, number});
      require<ConfigError>(!files_.empty() && files_.back().input == number, "data", input.string(),
                           ": expected a folder with text files",
                           options_.endings.empty() ? "" : " of the wanted endings",
                           ", got none; change the endings or the folder");
    } else {
      require<ConfigError>(fs::is_regular_file(status), "data", input.string(),
                           ": expected a file or a folder, got something else");
      files_.push_back({input, "", number});
    }
    records_.push_back({input.string(), 0, 0, ""});
    tallies_.emplace_back();
  }
  for (const File& file : files_) {
    std::error_code error;
    const uintmax_t size = fs::file_size(file.path, error);
    if (!error) bytes_total_ += static_cast<int64_t>(size);
  }
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
  while (!is_full_) {
    const size_t left =
        options_.max_bytes > 0 ? static_cast<size_t>(options_.max_bytes - text_bytes_) : SIZE_MAX;
    if (!next_any(text, options_.drop_duplicates ? SIZE_MAX : left)) return false;
    if (options_.drop_duplicates && !seen_.insert(hash_hex(text)).second) {
      ++skipped_.duplicates;
      continue;
    }
    if (options_.max_bytes > 0) {
      is_full_ = text.size() >= left;
      cut_utf8(text, left);
      text_bytes_ += static_cast<int64_t>(text.size());
      if (text.empty()) return false;
    }
    return true;
  }
  return false;
}

bool DocumentReader::next_any(std::string& text, size_t wanted) {
  while (true) {
    if (lines_ != nullptr) {
      if (lines_->next(text, skipped_, wanted)) return true;
      lines_.reset();
    }
    if (next_file_ == files_.size()) return false;
    if (next_of_file(files_[next_file_++], text, wanted)) return true;
  }
}

// Opens the file; true when it is one document, now in `text`.
bool DocumentReader::next_of_file(const File& file, std::string& text, size_t wanted) {
  const bool is_named = file.name.empty();  // not one of a folder
  const JsonlOptions& options = options_.jsonl;
  Tally& tally = tallies_[file.input];
  ++records_[file.input].files;
  // The closing NUL keeps the name apart from the bytes behind it.
  if (!is_named) tally.hasher.update(file.name.c_str(), file.name.size() + 1);
  std::unique_ptr<ByteReader> bytes = open_reader(file.path, tally);
  if (is_jsonl(file.path)) {
    lines_ = std::make_unique<JsonlReader>(std::move(bytes), file.path.string(), options);
    return false;
  }
  FileText found = read_text(*bytes, file.path.string(), tally,
                             {.wanted = wanted,
                              .to_the_end = !is_named,  // a NUL anywhere leaves the file out
                              .allow_binary = options.allow_binary,
                              .max_expanded_bytes = options.max_line_bytes});
  text = std::move(found.text);
  const size_t size = text.size();
  const bool is_strict = options.is_strict && found.binary.empty();
  const size_t bad = is_strict ? find_invalid_utf8(text) : std::string::npos;
  require<IoError>(bad == std::string::npos, "data", file.path.string(),
                   ": expected valid UTF-8, got an ill-formed sequence at byte ", bad,
                   " of its text; without --strict it is replaced");
  const int64_t n_invalid = replace_invalid_utf8(text);
  if (!options.allow_binary && is_mostly_invalid(n_invalid, size)) found.binary = kMostlyInvalid;
  if (!found.binary.empty()) {
    if (is_named) refuse_binary(file.path.string(), found.binary);
    ++skipped_.binary_files;
    return false;
  }
  skipped_.invalid_utf8 += n_invalid;
  skipped_.empty_documents += text.empty();
  return !text.empty();
}

}  // namespace farfield::data
