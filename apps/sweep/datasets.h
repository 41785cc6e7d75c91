#pragma once

#include <map>
#include <string>
#include <vector>

namespace farfield::sweep {

/// A corpus that is there.
struct KnownCorpus {
  std::string path;
  std::string hash;         ///< data::Corpus::hash()
  std::string description;  ///< for a report, without paths: "code: bytes, 26.0 MB train, ..."
};

/// The corpora that stand for the papers' data sets. Names: openwebtext2, github, arxiv,
/// wikitext103, and our own text, topic, induction.
class Datasets {
 public:
  /// "NAME=CORPUS", as on the command line: opens the corpus. Its name in outputs is the last part
  /// of its path. ConfigError for a name that no experiment has; IoError for a path that is no
  /// corpus.
  void map(const std::string& assignment);
  /// As a sweep's folder keeps it.
  void set(const std::string& name, const std::string& corpus, const KnownCorpus& known);

  /// The corpus that stands for a data set: the corpus it is mapped to, else "text"; "topic" and
  /// "induction" stand for themselves.
  std::string corpus_of(const std::string& name) const;
  const std::map<std::string, KnownCorpus>& corpora() const { return corpora_; }
  const std::map<std::string, std::string>& names() const { return names_; }
  /// By its name; ConfigError where it was never opened.
  const KnownCorpus& corpus(const std::string& name) const;

 private:
  std::map<std::string, std::string> names_;    // data set -> corpus
  std::map<std::string, KnownCorpus> corpora_;  // by name
};

/// ConfigError, naming the place `where`, unless this is a data set's name.
void require_dataset(const std::string& where, const std::string& name);
/// Whether text of this name is made, not read: topic, induction.
bool is_synthetic(const std::string& dataset);

}  // namespace farfield::sweep
