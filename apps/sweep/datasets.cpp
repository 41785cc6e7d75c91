#include "apps/sweep/datasets.h"

#include <algorithm>
#include <filesystem>

#include "data/corpus.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

const std::vector<std::string>& known_names() {
  static const std::vector<std::string> all = {"openwebtext2", "github", "arxiv",    "wikitext103",
                                               "text",         "topic",  "induction"};
  return all;
}

std::string described(const std::string& name, const data::Corpus& corpus) {
  std::string text = concat(name, ": ", corpus.tokenizer().name(), " tokens");
  for (const auto split : data::kSplits) {
    const data::TokenCounts& n = corpus.counts(split);
    text += concat(", ", split, ' ', fixed(static_cast<double>(n.tokens) / 1e6, 1), " M in ",
                   n.documents, " documents");
  }
  if (corpus.floor())
    text += concat(", floor ", fixed(*corpus.floor(), 4),
                   " nats per token for one who knows how each document was drawn");
  return text + ", hash " + corpus.hash();
}

}  // namespace

bool is_synthetic(const std::string& dataset) {
  return dataset == "topic" || dataset == "induction";
}

void require_dataset(const std::string& where, const std::string& name) {
  const std::vector<std::string>& all = known_names();
  require<ConfigError>(std::find(all.begin(), all.end(), name) != all.end(), kWhere, where,
                       ": expected one of ", joined(all), ", got '", name, "'",
                       did_you_mean(name, all));
}

void Datasets::map(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  require<ConfigError>(equals != std::string::npos && equals + 1 < assignment.size(), kWhere,
                       "--dataset: expected NAME=CORPUS, got '", assignment, "'");
  const std::string name = assignment.substr(0, equals), path = assignment.substr(equals + 1);
  require_dataset("--dataset", name);
  const data::Corpus corpus = data::Corpus::open(path, {});
  fs::path place = fs::path(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  const std::string called = place.filename().string();
  // Data sets that are not named fall back to corpora of these names.
  const bool is_reserved = called == "text" || is_synthetic(called);
  require<ConfigError>(!is_reserved || called == name || names_.count(called) != 0, kWhere,
                       "--dataset ", assignment, ": expected a corpus of another name, since ",
                       called, " is a data set; give it first, --dataset ", called,
                       "=CORPUS, or rename the folder");
  const auto found = corpora_.find(called);
  require<ConfigError>(found == corpora_.end() || found->second.hash == corpus.hash(), kWhere,
                       "--dataset: expected one corpus of the name ", called,
                       ", got two different ones; rename a folder");
  set(name, called, {fs::absolute(place).string(), corpus.hash(), described(called, corpus)});
}

void Datasets::set(const std::string& name, const std::string& corpus, const KnownCorpus& known) {
  names_[name] = corpus;
  corpora_[corpus] = known;
}

std::string Datasets::corpus_of(const std::string& name) const {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  if (is_synthetic(name)) return name;
  const auto text = names_.find("text");
  return text != names_.end() ? text->second : "text";
}

const KnownCorpus& Datasets::corpus(const std::string& name) const {
  const auto found = corpora_.find(name);
  require<ConfigError>(found != corpora_.end(), kWhere, "expected a corpus '", name,
                       "', got none; --dataset NAME=CORPUS");
  return found->second;
}

}  // namespace farfield::sweep
