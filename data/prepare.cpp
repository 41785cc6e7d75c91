#include "data/prepare.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "data/read_ahead.h"
#include "data/split_writer.h"
#include "data/tokenizers/make.h"
#include "data/tokenizers/train.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/temporary.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

namespace fs = std::filesystem;
using Progress = std::function<void(const PrepareProgress&)>;

constexpr std::string_view kWhere = "prepare";
constexpr size_t kFewDocuments = 20;
constexpr int64_t kProgressBytes = int64_t{1} << 20;
constexpr size_t kMostHeld = size_t{1} << 22;  // documents whose records are in memory
constexpr int64_t kMostUncutShare = 4;         // of --max-line: memory of tokens grows faster

// Documents until they say how to split: in memory, and beyond some of it on disk.
class HeldDocuments {
 public:
  HeldDocuments(size_t most_in_memory, const fs::path& spool_folder)
      : room_(most_in_memory), spools_(spool_folder) {}

  void add(Document document) {
    size_ += document.size();
    if (document.in_memory()) {
      if (document.size() > room_) {
        room_ = 0;  // all later documents too, so that they are read in order
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
        is_given_(!source.parts.empty()),
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
      if (is_given_ || is_hashed) {
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
                     source_.reader().records().front().path,
                     source_.reader().records().size() > 1 ? " and the other inputs" : "",
                     why_empty());
    if (is_given_) return "as given by --train-input, --valid-input and --test-input";
    if (is_hashed) return rule_text(shares_, "by a hash of each document's text");
    if (held_.count() >= kFewDocuments) {
      bounds_ = rank_bounds();
      release_held();
      return rule_text(shares_, "by rank of a hash of each document's text");
    }
    OrderedSplit split(held_.size(), shares_, writer_);
    held_.release([&](const Document& held) {
      read_blocks(held, [&](std::string_view block, bool is_last) {
        split.add(block, is_last);
        report(/*at_once=*/false);
      });
    });
    return shares_ == kUsualShares ? "in order, at 90 and 95 percent of the bytes"
                                   : rule_text(shares_, "in order of the bytes");
  }

  // Commits the token files; the manifest gets the records of these files and of the inputs.
  void commit(Manifest& manifest) {
    writer_.flush();
    require_text_of_each();
    writer_.commit(manifest);
    report(/*at_once=*/true);
    note_shared(manifest.notes);
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
    const uint64_t hash = document.hash();
    const size_t split = is_given_ ? document.part() : bounds_.split_of(hash);
    ++n_given_[split];
    if (is_given_ && hashes_[split].size() < kMostHeld) hashes_[split].push_back(hash);
    read_blocks(document, [&](std::string_view block, bool is_last) {
      writer_.add(split, block, is_last ? Encoder::End::document : Encoder::End::none);
      report(/*at_once=*/false);
    });
  }

  void release_held() {
    held_.release([&](const Document& document) { add(document); });
  }

  // Bounds that share the held documents out by rank.
  ShareBounds rank_bounds() const {
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

  // Documents that are given to train and to another split.
  void note_shared(std::vector<std::string>& notes) {
    std::sort(hashes_[0].begin(), hashes_[0].end());
    for (const size_t split : {1, 2}) {
      const auto& hashes = hashes_[split];
      const bool is_all = are_all_known(0) && are_all_known(split);
      const auto n = std::count_if(hashes.begin(), hashes.end(), [&](uint64_t hash) {
        return std::binary_search(hashes_[0].begin(), hashes_[0].end(), hash);
      });
      if (n > 0)
        notes.push_back(concat(is_all ? "" : "at least ", n, " of ", n_given_[split],
                               " documents of ", kSplits[split],
                               " stand in train too; --dedupe leaves them out"));
    }
  }
  bool are_all_known(size_t split) const { return hashes_[split].size() == n_given_[split]; }

  void require_text_of_each() const {
    std::vector<std::string_view> empty;
    std::string found;
    for (size_t i = 0; i < kSplits.size(); ++i) {
      const TokenCounts& counts = writer_.counts(i);
      if (counts.tokens == 0) empty.push_back(kSplits[i]);
      found += concat(i == 0 ? "" : ", ", kSplits[i], ' ', counts.documents, " (", counts.bytes,
                      " bytes)");
    }
    if (empty.empty()) return;
    const std::string none = listed(empty, " and ");
    require<IoError>(!is_given_, kWhere, "expected text for train, valid and test, got none for ",
                     none, ": documents of ", found, why_empty(), "; name other inputs");
    fail<IoError>(kWhere, "expected text for train, valid and test, got none for ", none, ": of ",
                  documents_, documents_ == 1 ? " document and " : " documents and ", text_bytes_,
                  " bytes the shares ", joined(options_.shares, ","), " give ", found,
                  "; choose other shares with --split, or add text that differs");
  }

  // The text that could have become a document.
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
  ShareBounds bounds_;
  bool is_given_;
  std::array<std::vector<uint64_t>, 3> hashes_;  // of the first documents of given splits
  std::array<size_t, 3> n_given_ = {};           // how many each has got
  HeldDocuments held_;
  SplitWriter writer_;
  const Progress& progress_;
  int64_t documents_ = 0, text_bytes_ = 0, reported_ = 0;
  ReadAhead source_;  // last: its thread ends first
};

// The inputs of all splits, each with its own as its part.
SourceOptions source_of(const PrepareOptions& options) {
  SourceOptions source = options.source;
  source.output = options.output;
  if (options.given[0].empty() && options.given[1].empty() && options.given[2].empty())
    return source;
  require<ConfigError>(source.inputs.empty(), kWhere,
                       "expected either --input or inputs of each split, got both");
  require<ConfigError>(options.shares == kUsualShares, kWhere,
                       "--split: expected no shares beside splits that are given, got ",
                       joined(options.shares, ","), "; leave it out");
  for (size_t split = 0; split < kSplits.size(); ++split) {
    const auto& inputs = options.given[split];
    require<ConfigError>(!inputs.empty(), kWhere, "--", kSplits[split],
                         "-input: expected the text of each split, got none for ", kSplits[split],
                         "; name it, or let --input be split");
    source.inputs.insert(source.inputs.end(), inputs.begin(), inputs.end());
    source.parts.resize(source.inputs.size(), split);
  }
  return source;
}

// A corpus that is replaced takes with it what lies in its folder.
void require_inputs_outside(const SourceOptions& source) {
  if (!is_there(source.output)) return;
  std::error_code no_output, no_input;
  const fs::path output = fs::canonical(source.output, no_output);
  for (const fs::path& input : source.inputs) {
    if (is_stream(input)) continue;
    const fs::path name = fs::weakly_canonical(input, no_input).lexically_relative(output);
    require<ConfigError>(no_output || no_input || name.empty() || *name.begin() == "..", kWhere,
                         input.string(),
                         ": expected text outside of the folder that --force replaces, got one in ",
                         source.output.string(), "; choose another --output");
  }
}

// A pass over the inputs for their words: of train where they are given, else of all.
TokenizerPtr learn_words_of(const PrepareOptions& options, const SourceOptions& source,
                            const Progress& progress) {
  TokenizerTraining training;
  training.source = source;
  if (!source.parts.empty()) {  // the inputs of train
    training.source.inputs = options.given[0];
    training.source.parts.clear();
  }
  const auto& inputs = training.source.inputs;
  require<ConfigError>(std::none_of(inputs.begin(), inputs.end(), is_stream), kWhere,
                       "expected files for --tokenizer words, which reads them twice, got standard "
                       "input or a pipe; learn the words first with prepare tokenizer train --kind "
                       "words");
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
                       "--max-bytes: expected a limit of at least 0 bytes, got ",
                       options.source.max_bytes);
  require<ConfigError>(options.source.jsonl.max_line_bytes >= 0, kWhere,
                       "--max-line: expected at least 0 bytes, got ",
                       options.source.jsonl.max_line_bytes);
  check_shares(options.shares);
  const SourceOptions source = source_of(options);
  require_corpus_output(options.output, options.force);
  require_inputs_outside(source);
  const TokenizerPtr tokenizer = options.tokenizer == kWordsTokenizer
                                     ? learn_words_of(options, source, progress)
                                     : make_tokenizer(options.tokenizer, options.tokenizer_options);
  require<ConfigError>(tokenizer->has_text(), kWhere, "expected a tokenizer that knows text, got ",
                       tokenizer->name(), ", which knows numbers alone");
  require<ConfigError>(tokenizer->end_of_document() != Tokenizer::kNone, kWhere,
                       "expected a token of ", tokenizer->name(), " that ends documents, such as ",
                       "<|endoftext|>, got none; name it with --end-of-text TOKEN");

  remove_leftovers(options.output);
  AtomicFolder folder(options.output);
  SourceOptions spooling = source;
  spooling.spool_folder = folder.folder();
  Preparation work(options, std::move(spooling), *tokenizer, folder.folder(), progress);
  Manifest manifest;
  manifest.split_rule = work.run();
  manifest.tokenizer = tokenizer;
  manifest.options = {{"text_key", source.jsonl.text_key},
                      {"ext", joined(source.endings, ",")},
                      {"strict", source.jsonl.is_strict ? "true" : "false"},
                      {"skip_bad_lines", source.jsonl.skip_bad_lines ? "true" : "false"},
                      {"dedupe", source.drop_duplicates ? "true" : "false"},
                      {"max_bytes", std::to_string(source.max_bytes)}};
  // Only where they are given, so that the manifests of other corpora stay as they always were.
  const auto add_if = [&](bool is_given, const std::string& name, const std::string& value) {
    if (is_given) manifest.options.emplace_back(name, value);
  };
  add_if(source.jsonl.allow_binary, "allow_binary", "true");
  add_if(source.format != InputFormat::by_name, "input_format",
         source.format == InputFormat::text ? "text" : "jsonl");
  add_if(!source.jsonl.subsets.empty(), "subset", joined(source.jsonl.subsets, ","));
  add_if(reduced(options.shares) != kUsualShares, "split", joined(options.shares, ","));
  for (size_t i = 0; i < kSplits.size(); ++i)
    add_if(!source.parts.empty(), concat(kSplits[i], "_input"),
           joined(options.given[i], ",", [](const fs::path& path) { return path.string(); }));
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
