#include "apps/sweep/datasets.h"

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

void Datasets::map(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  require<ConfigError>(equals != std::string::npos && equals + 1 < assignment.size(), kWhere,
                       "--dataset: expected NAME=CORPUS, got '", assignment, "'");
  const std::string name = assignment.substr(0, equals), path = assignment.substr(equals + 1);
  bool is_known = false;
  for (const std::string& known : known_names()) is_known = is_known || known == name;
  require<ConfigError>(is_known, kWhere, "--dataset: expected one of ", joined(known_names()),
                       ", got '", name, "'", did_you_mean(name, known_names()));
  const data::Corpus corpus = data::Corpus::open(path, {});
  fs::path place = fs::path(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  const std::string called = place.filename().string();
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
