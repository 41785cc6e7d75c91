#include "apps/run/training_data.h"

#include <algorithm>
#include <utility>

#include "apps/run/corpus.h"
#include "data/document_starts.h"
#include "data/neox_order.h"
#include "data/tasks/task_batches.h"
#include "data/tasks/task_tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"

namespace farfield::run {
namespace {

std::shared_ptr<const data::Sequences> sequences_of(const ResolvedConfig& config,
                                                    const data::Corpus& corpus, int64_t length) {
  const data::Tokens& tokens = corpus.split("train");
  if (config.order == DataOrder::shuffled)
    return std::make_shared<data::ShuffledWindows>(tokens, length, config.data_seed(),
                                                   corpus.document_tokens());
  if (config.order == DataOrder::documents)
    return std::make_shared<data::DocumentStarts>(tokens, corpus.document_begins("train"), length,
                                                  config.data_seed());
  require<ConfigError>(
      corpus.document_tokens() == 0, "data",
      "--order neox: expected a corpus whose windows may cross document ends, as windows of "
      "GPT-NeoX do, got a corpus that must be read document by document; leave --order out");
  int64_t samples = 0;
  require<ConfigError>(
      config.seed <= UINT32_MAX && !__builtin_mul_overflow(config.steps, config.batch, &samples),
      "data",
      "--order neox: expected a seed below 2^32 and a number of sequences "
      "that can be counted, got seed ",
      config.seed, " and ", config.steps, " steps of ", config.batch);
  return std::make_shared<data::NeoxOrder>(tokens, corpus.document_begins("train"), length,
                                           std::max<int64_t>(1, samples),
                                           static_cast<uint32_t>(config.data_seed()));
}

}  // namespace

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
  if (!config.task.empty()) {
    auto tokenizer = std::make_shared<data::TaskTokenizer>(*data::make_task(config.task));
    require<ConfigError>(!model_tokenizer || model_tokenizer->hash() == tokenizer->hash(), "data",
                         "--task: expected the task that the weights were trained on (",
                         model_tokenizer ? model_tokenizer->name() : "", "), got ", config.task);
    return data::Corpus::without_text(std::move(tokenizer), hash_hex(config.task));
  }
  const data::CorpusOptions options = corpus_options(config, model_tokenizer);
  std::vector<data::Corpus> corpora;
  std::vector<double> weights;
  for (const DataUse& use : config.data) {
    corpora.push_back(data::Corpus::open(use.path, options));
    weights.push_back(use.weight);
  }
  return {std::move(corpora), std::move(weights)};
}

int64_t vocab_size_of(const ResolvedConfig& config, const TrainingData& data) {
  const int64_t n_more = config.is_masked() ? 1 : 0;
  return data::padded_vocab_size(data.tokenizer().n_vocab() + n_more);
}

data::Masking masking_of(const ResolvedConfig& config, const TrainingData& data) {
  const int64_t n_vocab = data.tokenizer().n_vocab();
  return {.share = config.masked, .mask_token = static_cast<int32_t>(n_vocab), .n_vocab = n_vocab};
}

data::Loader loader_of(const ResolvedConfig& config, const TrainingData& data) {
  std::vector<data::Loader::Part> parts;
  for (const StepLength& of : config.step_lengths()) {
    data::Loader::Part& part = parts.emplace_back();
    part.share = of.share;
    part.seq_len = of.length;
    for (size_t i = 0; i < data.corpora().size(); ++i)
      part.sources.push_back(
          {sequences_of(config, data.corpora()[i], of.length), data.weights()[i]});
  }
  return {std::move(parts), config.batch, config.data_seed()};
}

data::BatchOf batches_of(const ResolvedConfig& config, const TrainingData& data) {
  if (config.is_masked())
    return [loader = loader_of(config, data), masking = masking_of(config, data),
            seed = config.data_seed()](int64_t step) {
      data::Batch batch = loader.batch(step);
      data::mask(batch, masking, seed, step);
      return batch;
    };
  if (config.task.empty())
    return [loader = loader_of(config, data)](int64_t step) { return loader.batch(step); };
  return
      [batches = data::TaskBatches(
           data::make_task(config.task), config.task_lengths, config.batch, config.data_seed(),
           config.model.sees_later ? data::AnswersInInput::hidden : data::AnswersInInput::shown)](
          int64_t step) { return batches.batch(step); };
}

}  // namespace farfield::run
