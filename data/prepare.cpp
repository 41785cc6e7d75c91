#include "data/prepare.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "engine/base/error.h"

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
    ids_.clear();
    tokenizer_.encode(text, ids_);
    if (ends_document) ids_.push_back(tokenizer_.end_of_document());
    writers_[split]->append(ids_);
    writers_[split]->count_document(static_cast<int64_t>(text.size()));
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
  std::vector<int32_t> ids_;
};

// Cuts the texts, taken as one, at 90 % and 95 % of their bytes, between characters.
void split_in_order(const std::vector<std::string>& texts, SplitWriter& writer) {
  const size_t total = std::accumulate(texts.begin(), texts.end(), size_t{0},
                                       [](size_t n, const auto& t) { return n + t.size(); });
  const size_t ends[] = {total / 100 * 90 + total % 100 * 90 / 100,
                         total / 100 * 95 + total % 100 * 95 / 100, total};
  size_t split = 0, before = 0;  // bytes of the texts before this one
  for (const std::string& text : texts) {
    for (size_t at = 0; at < text.size();) {
      while (ends[split] <= before + at) ++split;
      size_t end = std::min(ends[split] - before, text.size());
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      writer.add(split, std::string_view(text).substr(at, end - at), end == text.size());
      at = end;
    }
    before += text.size();
  }
}

// One way through the documents.
class Pass {
 public:
  Pass(const PrepareOptions& options, const Tokenizer& tokenizer, const fs::path& folder,
       const Progress& progress)
      : reader_(options.source), writer_(folder, tokenizer), progress_(progress) {}

  // Returns the rule that was followed.
  std::string run(const Bounds& bounds) {
    std::vector<std::string> first;
    std::string text;
    while (first.size() < kFewDocuments && next(text)) first.push_back(std::move(text));
    require<IoError>(!first.empty(), kWhere, "expected text, got an empty corpus: no document in ",
                     reader_.records().front().path,
                     reader_.records().size() > 1 ? " and the other inputs" : "");
    if (first.size() < kFewDocuments) {
      split_in_order(first, writer_);
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
  require<ConfigError>(is_corpus(output), kWhere, output.string(),
                       ": expected a new folder for the corpus, got one with other things in it; "
                       "choose another --output");
  require<ConfigError>(force, kWhere, output.string(),
                       ": expected a new folder for the corpus, got one that holds a corpus; "
                       "--force replaces it");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

}  // namespace

Manifest prepare(const PrepareOptions& options, const Progress& progress) {
  require<ConfigError>(!options.output.empty(), kWhere,
                       "expected a folder for the corpus; name it with --output");
  require<ConfigError>(options.source.max_bytes >= 0, kWhere,
                       "expected a limit of at least 0 bytes, got ", options.source.max_bytes);
  const Tokenizer tokenizer = Tokenizer::make(options.tokenizer);
  check_output(options.output, options.force);

  AtomicFolder folder(options.output);
  auto pass = std::make_unique<Pass>(options, tokenizer, folder.folder(), progress);
  Manifest manifest;
  manifest.split_rule = pass->run(kShares);
  if (pass->writer().has_empty_split() && pass->has_hashes()) {
    // Few documents, and chance left a split without any: read them again.
    const Bounds bounds = pass->rank_bounds();
    pass.reset();
    pass = std::make_unique<Pass>(options, tokenizer, folder.folder(), progress);
    pass->run(bounds);
    manifest.split_rule = "by rank of a hash of each document's text";
  }
  require<IoError>(!pass->writer().has_empty_split(), kWhere,
                   "expected enough text for train, valid and test, got an empty split; add text");

  manifest.tokenizer = tokenizer.name();
  manifest.tokenizer_hash = tokenizer.hash();
  manifest.n_vocab = tokenizer.n_vocab();
  manifest.sources = pass->reader().records();
  manifest.skipped = pass->reader().skipped();
  const SourceOptions& source = options.source;
  manifest.options = {{"text_key", source.jsonl.text_key},
                      {"ext", joined(source.endings)},
                      {"strict", source.jsonl.is_strict ? "true" : "false"},
                      {"skip_bad_lines", source.jsonl.skip_bad_lines ? "true" : "false"},
                      {"dedupe", source.drop_duplicates ? "true" : "false"},
                      {"max_bytes", std::to_string(source.max_bytes)}};
  pass->writer().commit(manifest);
  write_manifest(folder.folder(), manifest);
  folder.commit(options.force);
  return manifest;
}

}  // namespace farfield::data
