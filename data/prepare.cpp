#include "data/prepare.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>

#include "data/encode.h"
#include "data/read_ahead.h"
#include "data/token_file.h"
#include "data/tokenizers/make.h"
#include "data/tokenizers/train.h"
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
constexpr size_t kMostHeld = size_t{1} << 22;  // documents: what is known of them is in memory
constexpr int64_t kMostUncutShare = 4;         // of --max-line: memory of tokens grows faster
constexpr int64_t kMostShare = 1'000'000'000;

using Shares = std::array<int64_t, 3>;
constexpr Shares kUsualShares = {90, 5, 5};

// Without what all three can be divided by, so that 900,50,50 splits as 90,5,5.
Shares reduced(Shares shares) {
  const int64_t divisor = std::gcd(shares[0], std::gcd(shares[1], shares[2]));
  for (int64_t& share : shares) share /= divisor;
  if (shares == Shares{18, 1, 1}) return kUsualShares;  // whose bounds are old
  return shares;
}

// Where train and valid end of `whole`, without overflow.
std::array<uint64_t, 2> cuts(const Shares& shares, uint64_t whole) {
  const auto all = static_cast<uint64_t>(shares[0] + shares[1] + shares[2]);
  const auto at = [&](int64_t part) {
    const auto n = static_cast<uint64_t>(part);
    return whole / all * n + whole % all * n / all;
  };
  return {at(shares[0]), at(shares[0] + shares[1])};
}

std::string rule(const Shares& shares, const std::string& usual) {
  return shares == kUsualShares ? usual : joined(shares, " : ") + ", " + usual;
}

// A document belongs to the first split whose bound is above its hash; the last takes the rest.
struct Bounds {
  uint64_t train, valid;
  size_t split_of(uint64_t hash) const { return hash < train ? 0 : hash < valid ? 1 : 2; }
};
Bounds bounds_of(const Shares& shares) {
  const auto all = static_cast<uint64_t>(shares[0] + shares[1] + shares[2]);
  const auto at = [&](int64_t part) { return UINT64_MAX / all * static_cast<uint64_t>(part); };
  return {at(shares[0]), at(shares[0] + shares[1])};
}

// Writes the three token files, a piece of text at a time.
class SplitWriter {
 public:
  SplitWriter(const fs::path& folder, const Tokenizer& tokenizer, int64_t most_uncut)
      : encoder_(
            tokenizer, kSplits.size(),
            [this](size_t split, std::span<const int32_t> ids) { writers_[split]->append(ids); },
            most_uncut) {
    for (const std::string_view split : kSplits)
      writers_.push_back(
          std::make_unique<TokenWriter>(split_path(folder, split), tokenizer.n_vocab()));
  }

  void add(size_t split, std::string_view text, Encoder::End end) {
    encoder_.add(split, text, end);
    size_ += static_cast<int64_t>(text.size());
    piece_ += static_cast<int64_t>(text.size());
    if (end == Encoder::End::none) return;
    writers_[split]->count_document(piece_);
    piece_ = 0;
  }

  void commit(Manifest& manifest) {
    encoder_.flush();
    const bool is_empty = std::any_of(writers_.begin(), writers_.end(),
                                      [](const auto& w) { return w->counts().tokens == 0; });
    require<IoError>(
        !is_empty, kWhere,
        "expected enough text for train, valid and test, got an empty split; add text");
    for (size_t i = 0; i < writers_.size(); ++i)
      manifest.splits[i] = {writers_[i]->counts(), writers_[i]->commit()};
  }

  int64_t tokens() const {
    return std::accumulate(writers_.begin(), writers_.end(), int64_t{0},
                           [](int64_t n, const auto& w) { return n + w->counts().tokens; });
  }
  int64_t text_bytes() const { return size_; }

 private:
  std::vector<std::unique_ptr<TokenWriter>> writers_;
  Encoder encoder_;
  int64_t size_ = 0, piece_ = 0;  // bytes of all texts, and of the one that has not ended
};

// Cuts texts, taken as one of `total` bytes, by their shares of these, between characters.
class OrderedSplit {
 public:
  OrderedSplit(size_t total, const Shares& shares, SplitWriter& writer)
      : ends_{cuts(shares, total)[0], cuts(shares, total)[1], total}, writer_(writer) {}

  // A block of a document, its last or not.
  void add(std::string_view text, bool is_last) {
    for (size_t at = 0; at < text.size();) {
      while (split_ < 2 && ends_[split_] <= before_ + at) ++split_;
      size_t end = split_ < 2 ? std::min(ends_[split_] - before_, text.size()) : text.size();
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      const bool is_cut = split_ < 2 && ends_[split_] <= before_ + end;
      writer_.add(split_, text.substr(at, end - at),
                  is_last && end == text.size() ? Encoder::End::document
                  : is_cut                      ? Encoder::End::part
                                                : Encoder::End::none);
      at = end;
    }
    before_ += text.size();
  }

 private:
  size_t ends_[3];
  SplitWriter& writer_;
  size_t split_ = 0, before_ = 0;  // bytes of the texts before this one
};

// Documents until they say how to split: in memory, and beyond some of it on disk.
class HeldDocuments {
 public:
  HeldDocuments(size_t most_in_memory, const fs::path& spool_folder)
      : room_(most_in_memory), spools_(spool_folder) {}

  void add(Document document) {
    size_ += document.size();
    if (document.in_memory()) {
      if (document.size() > room_) {
        room_ = 0;  // those that follow too: what comes first is read first
        document = spools_.put(document);
      } else {
        room_ -= document.size();
      }
    }
    documents_.push_back(std::move(document));
  }
  size_t count() const { return documents_.size(); }
  size_t size() const { return size_; }

  std::vector<uint64_t> hashes() const {
    std::vector<uint64_t> hashes;
    hashes.reserve(count());
    for (const Document& document : documents_) hashes.push_back(document.hash());
    return hashes;
  }
  // Hands them out in their order, and forgets them.
  template <class F>
  void release(const F& take) {
    for (; !documents_.empty(); documents_.pop_front()) take(documents_.front());
  }

 private:
  size_t room_, size_ = 0;
  Spools spools_;
  std::deque<Document> documents_;
};

// Calls take(block, is_last).
template <class F>
void read_blocks(const Document& document, const F& take) {
  size_t left = document.size();
  document.read([&](std::string_view block) {
    left -= block.size();
    take(block, left == 0);
  });
}

class Preparation {
 public:
  Preparation(const PrepareOptions& options, SourceOptions source, const Tokenizer& tokenizer,
              const fs::path& folder, const Progress& progress)
      : options_(options),
        shares_(reduced(options.shares)),
        bounds_(bounds_of(shares_)),
        held_(options.held_bytes, folder),
        writer_(folder, tokenizer, source.jsonl.max_line_bytes / kMostUncutShare),
        progress_(progress),
        source_(std::move(source)) {}

  // Returns the rule that was followed.
  std::string run() {
    // A hash shares documents out as soon as it leaves no split empty; until then the number of all
    // of them may turn out to be small.
    bool is_hashed = false;
    std::array<bool, 3> has = {};
    Document document;
    while (next(document)) {
      if (is_hashed) {
        add(document);
        continue;
      }
      has[bounds_.split_of(document.hash())] = true;
      held_.add(std::move(document));
      is_hashed = held_.count() >= kFewDocuments &&
                  ((has[0] && has[1] && has[2]) || held_.count() == kMostHeld);
      if (is_hashed) release_held();
    }
    require<IoError>(documents_ > 0, kWhere, "expected text, got an empty corpus: no document in ",
                     options_.source.inputs.front().string(),
                     options_.source.inputs.size() > 1 ? " and the other inputs" : "", why_empty());
    if (is_hashed) return rule(shares_, "by a hash of each document's text");
    if (held_.count() >= kFewDocuments) {
      bounds_ = rank_bounds();
      release_held();
      return rule(shares_, "by rank of a hash of each document's text");
    }
    OrderedSplit split(held_.size(), shares_, writer_);
    held_.release([&](const Document& held) {
      read_blocks(held, [&](std::string_view block, bool is_last) {
        split.add(block, is_last);
        report(/*at_once=*/false);
      });
    });
    return shares_ == kUsualShares ? "in order, at 90 and 95 percent of the bytes"
                                   : rule(shares_, "in order of the bytes");
  }

  // The token files; the manifest gets what they and the inputs say of themselves.
  void commit(Manifest& manifest) {
    writer_.commit(manifest);
    report(/*at_once=*/true);
    manifest.sources = source_.reader().records();
    manifest.skipped = source_.reader().skipped();
  }

 private:
  bool next(Document& document) {
    const bool found = source_.next(document, [&] { report(/*at_once=*/true); });
    documents_ += found;
    if (found) text_bytes_ += static_cast<int64_t>(document.size());
    report(/*at_once=*/false);
    return found;
  }

  void add(const Document& document) {
    const size_t split = bounds_.split_of(document.hash());
    read_blocks(document, [&](std::string_view block, bool is_last) {
      writer_.add(split, block, is_last ? Encoder::End::document : Encoder::End::none);
      report(/*at_once=*/false);
    });
  }

  void release_held() {
    held_.release([&](const Document& document) { add(document); });
  }

  // Bounds that share the held documents out by rank.
  Bounds rank_bounds() const {
    std::vector<uint64_t> hashes = held_.hashes();
    std::sort(hashes.begin(), hashes.end());
    const auto [train, valid] = cuts(shares_, hashes.size());
    const size_t first = std::min<size_t>(train, hashes.size() - 2);  // one for each at least
    return {hashes[first], hashes[std::max<size_t>(valid, first + 1)]};
  }

  // Says how far it has come after each MB that was read or became tokens.
  void report(bool at_once) {
    if (!progress_) return;
    const int64_t read = source_.bytes_read();
    if (!at_once && read + writer_.text_bytes() < reported_ + kProgressBytes) return;
    reported_ = read + writer_.text_bytes();
    const double share = text_bytes_ > 0 ? static_cast<double>(writer_.text_bytes()) /
                                               static_cast<double>(text_bytes_)
                                         : 0;
    progress_({read, source_.bytes_total(),
               read / 2 + static_cast<int64_t>(static_cast<double>(read - read / 2) * share),
               documents_, writer_.tokens()});
  }

  // What could have been a document.
  std::string why_empty() const {
    const Skipped& skipped = source_.reader().skipped();
    const JsonlOptions& jsonl = options_.source.jsonl;
    const std::string subsets = missing_subsets_hint(skipped, jsonl.subsets);
    if (!subsets.empty()) return ": " + subsets;
    const std::string missing = missing_text_hint(skipped, jsonl.text_key);
    if (!missing.empty()) return ": " + missing;
    if (skipped.binary_files > 0)
      return concat(": ", skipped.binary_files,
                    skipped.binary_files == 1 ? " file looks" : " files look",
                    " binary; --allow-binary reads them as text");
    return "";
  }

  const PrepareOptions& options_;
  Shares shares_;
  Bounds bounds_;
  HeldDocuments held_;
  SplitWriter writer_;
  const Progress& progress_;
  int64_t documents_ = 0, text_bytes_ = 0, reported_ = 0;
  ReadAhead source_;  // last: its thread ends first
};

void check_shares(const Shares& shares) {
  for (const int64_t share : shares)
    require<ConfigError>(share > 0 && share <= kMostShare, kWhere,
                         "--split: expected three shares for train, valid and test, whole numbers "
                         "from 1 to ",
                         kMostShare, " such as 949,50,1, got ", joined(shares, ","),
                         "; each split of a corpus has text");
}

// A pass over the inputs for their words; all of them, since what will be train is not known yet.
TokenizerPtr learn_words_of(const PrepareOptions& options, const Progress& progress) {
  const auto& inputs = options.source.inputs;
  require<ConfigError>(std::find(inputs.begin(), inputs.end(), "-") == inputs.end(), kWhere,
                       "expected files for --tokenizer words, which reads them twice, got standard "
                       "input; learn the words first with prepare tokenizer train --kind words");
  TokenizerTraining training;
  training.source = options.source;
  training.kind = TokenizerKind::words;
  training.vocabulary.vocab_size = 0;
  training.tokenizer = options.tokenizer_options;
  return train_tokenizer(training,
                         [&](const TrainingProgress& p) {
                           PrepareProgress so_far;
                           so_far.bytes_read = p.bytes_read;
                           so_far.bytes_total = p.bytes_total;
                           so_far.documents = p.documents;
                           if (progress) progress(so_far);
                         })
      .tokenizer;
}

}  // namespace

Manifest prepare(const PrepareOptions& options, const Progress& progress) {
  require<ConfigError>(options.source.max_bytes >= 0, kWhere,
                       "expected a limit of at least 0 bytes, got ", options.source.max_bytes);
  require<ConfigError>(options.source.jsonl.max_line_bytes >= 0, kWhere,
                       "--max-line: expected at least 0 bytes, got ",
                       options.source.jsonl.max_line_bytes);
  check_shares(options.shares);
  require_corpus_output(options.output, options.force);
  const TokenizerPtr tokenizer = options.tokenizer == kWordsTokenizer
                                     ? learn_words_of(options, progress)
                                     : make_tokenizer(options.tokenizer, options.tokenizer_options);
  require<ConfigError>(tokenizer->has_text(), kWhere, "expected a tokenizer that knows text, got ",
                       tokenizer->name(), ", which knows numbers alone");
  require<ConfigError>(tokenizer->end_of_document() != Tokenizer::kNone, kWhere,
                       "expected a token of ", tokenizer->name(), " that ends documents, such as ",
                       "<|endoftext|>, got none; name it with --end-of-text TOKEN");

  remove_leftovers(options.output);
  AtomicFolder folder(options.output);
  SourceOptions spooling = options.source;
  spooling.spool_folder = folder.folder();
  Preparation work(options, std::move(spooling), *tokenizer, folder.folder(), progress);
  Manifest manifest;
  manifest.split_rule = work.run();
  manifest.tokenizer = tokenizer;
  const SourceOptions& source = options.source;
  manifest.options = {{"text_key", source.jsonl.text_key},
                      {"ext", joined(source.endings, ",")},
                      {"strict", source.jsonl.is_strict ? "true" : "false"},
                      {"skip_bad_lines", source.jsonl.skip_bad_lines ? "true" : "false"},
                      {"dedupe", source.drop_duplicates ? "true" : "false"},
                      {"max_bytes", std::to_string(source.max_bytes)}};
  // Only where they are given, so that the manifests of other corpora stay as they always were.
  const auto add_if = [&](bool is_given, const char* name, const std::string& value) {
    if (is_given) manifest.options.emplace_back(name, value);
  };
  add_if(source.jsonl.allow_binary, "allow_binary", "true");
  add_if(source.format != InputFormat::by_name, "input_format",
         source.format == InputFormat::text ? "text" : "jsonl");
  add_if(!source.jsonl.subsets.empty(), "subset", joined(source.jsonl.subsets, ","));
  add_if(reduced(options.shares) != kUsualShares, "split", joined(options.shares, ","));
  const TokenizerOptions& tokenization = options.tokenizer_options;
  add_if(tokenization.special_as_text, "special_as_text", "true");
  add_if(!tokenization.end_of_text.empty(), "end_of_text", tokenization.end_of_text);
  add_if(!tokenization.pattern.empty(), "tokenizer_pattern", tokenization.pattern);
  work.commit(manifest);
  write_manifest(folder.folder(), manifest);
  folder.commit(options.force);
  return manifest;
}

}  // namespace farfield::data
