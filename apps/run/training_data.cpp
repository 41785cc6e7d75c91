#include "apps/run/training_data.h"

#include <utility>

#include "apps/run/corpus.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"

namespace farfield::run {
TrainingData::TrainingData(data::Corpus corpus) : weights_{1} {
  corpora_.push_back(std::move(corpus));
}

TrainingData::TrainingData(std::vector<data::Corpus> corpora, std::vector<double> weights)
    : corpora_(std::move(corpora)), weights_(std::move(weights)) {
  for (const data::Corpus& corpus : corpora_)
    require<ConfigError>(corpus.tokenizer().hash() == tokenizer().hash(), "data",
                         "expected corpora of one tokenizer, got '", tokenizer().name(), "' (hash ",
                         tokenizer().hash(), ") and '", corpus.tokenizer().name(), "' (hash ",
                         corpus.tokenizer().hash(), "); prepare them with the same");
}

std::string TrainingData::hash() const {
  if (corpora_.size() == 1) return corpora_.front().hash();
  Hasher hasher;
  for (size_t i = 0; i < corpora_.size(); ++i)
    hasher.update(concat(corpora_[i].hash(), ' ', shortest(weights_[i]), '\n'));
  return hasher.hex();
}

TrainingData open_data(const ResolvedConfig& config, const data::TokenizerPtr& model_tokenizer) {
  const data::CorpusOptions options = corpus_options(config, model_tokenizer);
  std::vector<data::Corpus> corpora;
  std::vector<double> weights;
  for (const DataUse& use : config.data) {
    corpora.push_back(data::Corpus::open(use.path, options));
    weights.push_back(use.weight);
  }
  return {std::move(corpora), std::move(weights)};
}

data::Loader loader_of(const ResolvedConfig& config, const TrainingData& data) {
  std::vector<data::Loader::Source> sources;
  for (size_t i = 0; i < data.corpora().size(); ++i)
    sources.push_back({std::make_shared<data::ShuffledWindows>(data.corpora()[i].split("train"),
                                                               config.train_len(), config.seed),
                       data.weights()[i]});
  return {std::move(sources), config.batch, config.train_len(), config.seed};
}

}  // namespace farfield::run
