#pragma once

#include <string>
#include <vector>

#include "apps/run/resolved_config.h"
#include "data/corpus.h"
#include "data/loader.h"
#include "data/masking.h"
#include "data/prefetcher.h"

namespace farfield::run {

/// The corpora that a model is trained on, open, all of one tokenizer. Copies share the mappings.
class TrainingData {
 public:
  /// Of one corpus alone. Not explicit: a corpus is training data.
  TrainingData(data::Corpus corpus);
  /// ConfigError, naming both, for corpora of different tokenizers.
  TrainingData(std::vector<data::Corpus> corpora, std::vector<double> weights);

  const std::vector<data::Corpus>& corpora() const { return corpora_; }
  const std::vector<double>& weights() const { return weights_; }
  const data::Tokenizer& tokenizer() const { return corpora_.front().tokenizer(); }
  int64_t vocab_size() const { return corpora_.front().vocab_size(); }
  /// Tells training data apart: the corpus's, or of several the hash of theirs and of the weights.
  std::string hash() const;

 private:
  std::vector<data::Corpus> corpora_;
  std::vector<double> weights_;
};

/// Opens what --data or --task, --tokenizer, --data-type and --data-split say. `model_tokenizer` is
/// the tokenizer of a resumed run: other tokens are refused by name.
TrainingData open_data(const ResolvedConfig& config,
                       const data::TokenizerPtr& model_tokenizer = nullptr);

/// Rows of the model's embedding and head: data.vocab_size(), and where tokens are masked as many
/// more as the mask token needs.
int64_t vocab_size_of(const ResolvedConfig& config, const TrainingData& data);
/// How an encoder on text is trained. The mask token is the first id that the tokenizer leaves
/// free.
data::Masking masking_of(const ResolvedConfig& config, const TrainingData& data);

/// The sequences of a run that reads text, without a mask, as `inspect batches` prints them.
data::Loader loader_of(const ResolvedConfig& config, const TrainingData& data);
/// The batches of any run.
data::BatchOf batches_of(const ResolvedConfig& config, const TrainingData& data);

}  // namespace farfield::run
