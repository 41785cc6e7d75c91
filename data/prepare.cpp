#include "data/prepare.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "data/encode.h"
#include "data/token_file.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/temporary.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;
using Progress = std::function<void(const PrepareProgress&)>;

constexpr std::string_view kWhere = "prepare";
constexpr size_t kFewDocuments = 20;
constexpr int64_t kProgressBytes = int64_t{1} << 20;

// A document belongs to the first split whose bound is above its hash; the last takes the rest.
struct Bounds {
  uint64_t train, valid;
};
constexpr Bounds kShares = {UINT64_MAX / 100 * 90, UINT64_MAX / 100 * 95};

// Writes the three token files, a piece of text at a time.
class SplitWriter {
 public:
  SplitWriter(const fs::path& folder, const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    for (const std::string_view split : kSplits)
      writers_.push_back(
          std::make_unique<TokenWriter>(split_path(folder, split), tokenizer.n_vocab()));
  }

  void add(size_t split, std::string_view text, bool ends_document) {
    TokenWriter& writer = *writers_[split];
    encode_pieces(tokenizer_, text, [&](std::span<const int32_t> ids) { writer.append(ids); });
    const int32_t end = tokenizer_.end_of_document();
    if (ends_document) writer.append({&end, 1});
    writer.count_document(static_cast<int64_t>(text.size()));
  }

  bool has_empty_split() const {
    return std::any_of(writers_.begin(), writers_.end(),
                       [](const auto& w) { return w->counts().tokens == 0; });
  }
  int64_t tokens() const {
    return std::accumulate(writers_.begin(), writers_.end(), int64_t{0},
                           [](int64_t n, const auto& w) { return n + w->counts().tokens; });
  }

  void commit(Manifest& manifest) {
    for (size_t i = 0; i < writers_.size(); ++i)
      manifest.splits[i] = {writers_[i]->counts(), writers_[i]->commit()};
  }

 private:
  const Tokenizer& tokenizer_;
  std::vector<std::unique_ptr<TokenWriter>> writers_;
};

// Cuts texts, taken as one of `total` bytes, at 90 % and 95 % of these, between characters.
class OrderedSplit {
 public:
  OrderedSplit(size_t total, SplitWriter& writer)
      : ends_{total / 100 * 90 + total % 100 * 90 / 100, total / 100 * 95 + total % 100 * 95 / 100,
              total},
        writer_(writer) {}

  void add(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      while (split_ < 2 && ends_[split_] <= before_ + at) ++split_;
      size_t end = split_ < 2 ? std::min(ends_[split_] - before_, text.size()) : text.size();
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      writer_.add(split_, text.substr(at, end - at), end == text.size());
      at = end;
    }
    before_ += text.size();
  }

 private:
  size_t ends_[3];
  SplitWriter& writer_;
  size_t split_ = 0, before_ = 0;  // bytes of the texts before this one
};

// One way through the documents.
class Pass {
 public:
  Pass(const PrepareOptions& options, const Tokenizer& tokenizer, const fs::path& folder,
       const Progress& progress)
      : options_(options),
        reader_(options.source),
        writer_(folder, tokenizer),
        progress_(progress) {}

  // Returns the rule that was followed.
  std::string run(const Bounds& bounds) {
    std::vector<std::string> first;  // until their number says how to split
    size_t n_first = 0, size = 0;
    std::string text;
    for (; n_first < kFewDocuments && next(text); ++n_first) {
      size += text.size();
      if (size <= options_.held_bytes) first.push_back(std::move(text));
    }
    require<IoError>(n_first > 0, kWhere, "expected text, got an empty corpus: no document in ",
                     reader_.records().front().path,
                     reader_.records().size() > 1 ? " and the other inputs" : "", why_empty());
    if (first.size() < n_first) {  // too much to hold: read them again
      first.clear();
      reader_ = DocumentReader(options_.source);
      documents_ = reported_ = 0;
    }
    if (n_first < kFewDocuments) {
      OrderedSplit split(size, writer_);
      for (const std::string& document : first) split.add(document);
      while (next(text)) split.add(text);
      return "in order, at 90 and 95 percent of the bytes";
    }
    for (const std::string& document : first) add(document, bounds);
    while (next(text)) add(text, bounds);
    return "by a hash of each document's text";
  }

  // Bounds that share these documents out by rank.
  Bounds rank_bounds() {
    std::sort(hashes_.begin(), hashes_.end());
    return {hashes_[hashes_.size() * 90 / 100], hashes_[hashes_.size() * 95 / 100]};
  }
  bool has_hashes() const { return !hashes_.empty(); }

  const DocumentReader& reader() const { return reader_; }
  SplitWriter& writer() { return writer_; }

 private:
  bool next(std::string& text) {
    const bool found = reader_.next(text);
    documents_ += found;
    if (progress_ && (!found || reader_.bytes_read() >= reported_ + kProgressBytes)) {
      reported_ = reader_.bytes_read();
      progress_({reported_, reader_.bytes_total(), documents_, writer_.tokens()});
    }
    return found;
  }

  void add(const std::string& text, const Bounds& bounds) {
    const uint64_t hash = hash64(text);
    hashes_.push_back(hash);
    writer_.add(hash < bounds.train ? 0 : hash < bounds.valid ? 1 : 2, text, true);
  }

  // What could have been a document.
  std::string why_empty() const {
    const Skipped& skipped = reader_.skipped();
    const std::string missing = missing_text_hint(skipped, options_.source.jsonl.text_key);
    if (!missing.empty()) return ": " + missing;
    if (skipped.binary_files > 0)
      return concat(": ", skipped.binary_files,
                    skipped.binary_files == 1 ? " file looks" : " files look",
                    " binary; --allow-binary reads them as text");
    return "";
  }

  const PrepareOptions& options_;
  DocumentReader reader_;
  SplitWriter writer_;
  const Progress& progress_;
  std::vector<uint64_t> hashes_;
  int64_t documents_ = 0, reported_ = 0;
};

void check_output(const fs::path& output, bool force) {
  std::error_code error;
  if (!fs::exists(output, error) ||
      (fs::is_directory(output, error) && fs::is_empty(output, error)))
    return;
  require<ConfigError>(is_corpus_folder(output), kWhere, output.string(),
                       ": expected a new folder for the corpus, got one with other things in it; "
                       "choose another --output");
  require<ConfigError>(force, kWhere, output.string(),
                       ": expected a new folder for the corpus, got one that holds a corpus; "
                       "--force replaces it");
}

}  // namespace

Manifest prepare(const PrepareOptions& options, const Progress& progress) {
  require<ConfigError>(!options.output.empty(), kWhere,
                       "expected a folder for the corpus; name it with --output");
  require<ConfigError>(options.source.max_bytes >= 0, kWhere,
                       "expected a limit of at least 0 bytes, got ", options.source.max_bytes);
  require<ConfigError>(options.source.jsonl.max_line_bytes >= 0, kWhere,
                       "--max-line: expected at least 0 bytes, got ",
                       options.source.jsonl.max_line_bytes);
  const TokenizerPtr tokenizer = make_tokenizer(options.tokenizer);
  check_output(options.output, options.force);

  remove_leftovers(options.output);
  AtomicFolder folder(options.output);
  auto pass = std::make_unique<Pass>(options, *tokenizer, folder.folder(), progress);
  Manifest manifest;
  manifest.split_rule = pass->run(kShares);
  if (pass->writer().has_empty_split() && pass->has_hashes()) {
    // Few documents, and chance left a split without any: read them again.
    const Bounds bounds = pass->rank_bounds();
    pass.reset();
    pass = std::make_unique<Pass>(options, *tokenizer, folder.folder(), progress);
    pass->run(bounds);
    manifest.split_rule = "by rank of a hash of each document's text";
  }
  require<IoError>(!pass->writer().has_empty_split(), kWhere,
                   "expected enough text for train, valid and test, got an empty split; add text");

  manifest.tokenizer = tokenizer;
  manifest.sources = pass->reader().records();
  manifest.skipped = pass->reader().skipped();
  const SourceOptions& source = options.source;
  manifest.options = {{"text_key", source.jsonl.text_key},
                      {"ext", joined(source.endings, ",")},
                      {"strict", source.jsonl.is_strict ? "true" : "false"},
                      {"skip_bad_lines", source.jsonl.skip_bad_lines ? "true" : "false"},
                      {"dedupe", source.drop_duplicates ? "true" : "false"},
                      {"max_bytes", std::to_string(source.max_bytes)}};
  // Only where it is set, so that the manifests of other corpora stay as they always were.
  if (source.jsonl.allow_binary) manifest.options.emplace_back("allow_binary", "true");
  pass->writer().commit(manifest);
  write_manifest(folder.folder(), manifest);
  folder.commit(options.force);
  return manifest;
}

}  // namespace farfield::data
