#include "data/synthetic/synthesize.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "data/token_file.h"
#include "data/tokenizers/make.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/base/temporary.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "synthetic";
constexpr size_t kTestSplit = 2;
constexpr int64_t kMostDocumentTokens = int64_t{1} << 24;
constexpr int64_t kMostTokens = int64_t{1} << 40;
constexpr int64_t kTokensAtOnce = int64_t{1} << 20;

// Reads `value` from `least` to `most`; NaN is outside.
template <class T>
void check_range(const char* option, T value, T least, T most) {
  require<ConfigError>(value >= least && value <= most, kWhere, "--", option, ": expected ", least,
                       " to ", most, ", got ", value);
}

void check(const SyntheticOptions& options) {
  const TopicOptions& topic = options.topic;
  check_range<int64_t>("alphabet", topic.alphabet, 2,
                       static_cast<int64_t>(symbol_characters().size()));
  check_range("local", topic.local, 0.0, 1.0);
  check_range("alpha", topic.alpha, 1e-6, 1e6);
  check_range("copy", options.copies.probability, 0.0, 1.0);
  check_range<int64_t>("document-tokens", options.document_tokens, 2, kMostDocumentTokens);
  check_range<int64_t>("copy-length", options.copies.length, 1, options.document_tokens);
  const int64_t most = kMostTokens / (options.document_tokens + 1);
  for (const int64_t documents : options.documents)
    require<ConfigError>(documents >= 1 && documents <= most, kWhere, "--documents: expected 1 to ",
                         most, " for each split, got ", joined(options.documents, ","));
}

// Documents of one split from number `first` on, each followed by the id that ends it.
struct Block {
  std::vector<int32_t> ids;
  std::vector<double> nats;  // document_nats() of each, of the test split
};

Block make_block(const SyntheticOptions& options, const Successors& successors, size_t split,
                 int64_t first, int64_t n, int32_t end_of_document) {
  const int64_t length = options.document_tokens;
  Block block;
  block.ids.resize(static_cast<size_t>(n * (length + 1)));
  block.nats.resize(split == kTestSplit ? static_cast<size_t>(n) : 0);
  const uint64_t stream = stream_of(concat("synthetic ", kSplits.at(split)));
  parallel_for(n, [&](int64_t i) {
    Draws draws(options.topic.seed, stream + static_cast<uint64_t>(first + i));
    const Topic topic(options.topic, successors, draws);
    const std::span<int32_t> text(block.ids.data() + i * (length + 1), static_cast<size_t>(length));
    write_document(topic, options.copies, draws, text);
    if (split == kTestSplit)
      block.nats[static_cast<size_t>(i)] = document_nats(topic, options.copies, text);
    for (int32_t& id : text)
      id = static_cast<unsigned char>(symbol_characters()[static_cast<size_t>(id)]);
    block.ids[static_cast<size_t>((i + 1) * (length + 1) - 1)] = end_of_document;
  });
  return block;
}

std::vector<std::pair<std::string, std::string>> recorded(const SyntheticOptions& options) {
  const bool has_copies = options.copies.probability > 0;
  std::vector<std::pair<std::string, std::string>> all = {
      {"synthetic", has_copies ? "induction" : "topic"},
      {"alphabet", std::to_string(options.topic.alphabet)},
      {"local", shortest(options.topic.local)},
      {"alpha", shortest(options.topic.alpha)},
      {"seed", std::to_string(options.topic.seed)}};
  if (has_copies) {
    all.emplace_back("copy", shortest(options.copies.probability));
    all.emplace_back("copy_length", std::to_string(options.copies.length));
  }
  return all;
}

}  // namespace

std::string_view symbol_characters() {
  return "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"
         "!\"#$%&'()*,./:;<=>?@[\\]^_`{|}~";
}

SyntheticOptions synthetic_options(const std::string& task) {
  require<ConfigError>(task == "topic" || task == "induction", kWhere,
                       "expected the text topic or induction, got '", task, "'",
                       did_you_mean(task, {"topic", "induction"}));
  SyntheticOptions options;
  if (task == "induction") options.copies.probability = 0.02;
  return options;
}

Manifest synthesize(const SyntheticOptions& options,
                    const std::function<void(const SynthesisProgress&)>& progress) {
  check(options);
  require_corpus_output(options.output, options.force);
  remove_leftovers(options.output);
  AtomicFolder folder(options.output);
  Manifest manifest;
  manifest.tokenizer = make_tokenizer("bytes");
  manifest.split_rule = "each drawn by itself";
  manifest.document_tokens = options.document_tokens;
  manifest.options = recorded(options);

  const Successors successors(options.topic.alphabet, options.topic.seed);
  SynthesisProgress so_far;
  so_far.documents_total =
      std::accumulate(options.documents.begin(), options.documents.end(), int64_t{0});
  const int64_t most = std::max<int64_t>(1, kTokensAtOnce / options.document_tokens);
  double nats = 0;
  for (size_t split = 0; split < kSplits.size(); ++split) {
    TokenWriter writer(split_path(folder.folder(), kSplits.at(split)),
                       manifest.tokenizer->n_vocab());
    for (int64_t first = 0; first < options.documents.at(split); first += most) {
      const int64_t n = std::min(most, options.documents.at(split) - first);
      const Block block =
          make_block(options, successors, split, first, n, manifest.tokenizer->end_of_document());
      writer.append(block.ids);
      writer.count(n, n * options.document_tokens);
      nats = std::accumulate(block.nats.begin(), block.nats.end(), nats);
      so_far.documents += n;
      if (progress) progress(so_far);
    }
    manifest.splits.at(split) = {writer.counts(), writer.commit()};
  }
  manifest.floor = nats / static_cast<double>(options.documents[kTestSplit]) /
                   static_cast<double>(options.document_tokens - 1);
  write_manifest(folder.folder(), manifest);
  folder.commit(options.force);
  return manifest;
}

}  // namespace farfield::data
