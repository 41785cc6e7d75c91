#include "apps/sweep/given_run.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "apps/run/corpus.h"
#include "apps/run/source_run.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/transformer.h"
#include "posenc/composition.h"
#include "posenc/expression.h"
#include "posenc/registry.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";
// Learning rates of fine-tunes are for the models of `tiny`.
constexpr double kTunedWidth = 64;
// Training length in tokens from which activations of fine-tunes are computed again rather than
// kept: by count about 590 MB a layer for 12288 tokens of a model with width 576.
constexpr int64_t kLongSequence = 1024;

bool has_checkpoint(const run::RunFolder& folder, int64_t step) {
  const std::vector<fs::path> all = run::list_checkpoints(folder.checkpoints());
  return std::any_of(all.begin(), all.end(), [&](const fs::path& one) {
    return run::step_of(one.filename().string()) == step;
  });
}

const Arm& base_arm_of(const Experiment& experiment) {
  for (const Arm& arm : experiment.arms)
    if (arm.label == experiment.base_arm) return arm;
  fail<Error>(kWhere, experiment.id, ": expected a model that a given run can stand for, got none");
}

// Whether queries and keys of some layer are turned by their positions.
bool turns(const std::string& expression, const run::ResolvedConfig& config) {
  const ModelConfig& model = config.model;
  const posenc::Composition encoding(expression, {.n_head = model.n_head,
                                                  .head_dim = model.head_dim(),
                                                  .d_model = model.d_model,
                                                  .n_layer = model.n_layer,
                                                  .train_len = model.train_len,
                                                  .seed = config.seed});
  const posenc::Composition::Plan plan =
      encoding.plan(model.train_len, model.train_len, posenc::Phase::eval);
  return std::any_of(plan.layers.begin(), plan.layers.end(), [](const auto& layer) {
    bool is_turned = false;
    for_each_angle(layer.rotation,
                   [&](const Tensor& table) { is_turned = is_turned || table.defined(); });
    return is_turned;
  });
}

// The run's expression with another rotation in place of the one that it was trained with, in the
// same layers.
std::string with_rotation(const GivenRun& given, const std::string& trained,
                          const std::string& rotation) {
  std::vector<posenc::ParsedTerm> terms = posenc::parse_expression(given.posenc(), posenc::form_of);
  const auto old = std::find_if(terms.begin(), terms.end(), [&](const posenc::ParsedTerm& term) {
    return term.name == trained;
  });
  require<ConfigError>(old != terms.end(), kWhere, rotation, " takes the place of ", trained,
                       ", which ", given.posenc(), " does not have");
  const std::optional<posenc::ParsedLayers> layers = old->layers;
  *old = posenc::parse_expression(rotation, posenc::form_of).front();
  old->layers = layers;
  return joined(terms, " + ", [](const posenc::ParsedTerm& term) { return to_text(term); });
}

}  // namespace

run::ResolvedConfig GivenRun::config() const {
  return run::resolve(run::to_run_config(name, training));
}

int64_t GivenRun::number(const char* key) const {
  return std::strtoll(run::value_of(training, key).c_str(), nullptr, 10);
}

GivenRun open_given(const std::string& path, std::optional<int64_t> step) {
  if (step && !has_checkpoint(run::RunFolder::open(path), *step)) step.reset();
  const run::SourceRun source = run::open_source(path, step, {});
  require<ConfigError>(source.config.task.empty(), kWhere, "--base ", path,
                       ": expected a run that is trained on text, got one of the task ",
                       source.config.task);
  const run::Checkpoint checkpoint =
      run::load_checkpoint(run::find_checkpoint(source.folder.checkpoints(), source.step),
                           /*with_optimizer=*/false);
  GivenRun given;
  given.name = path;
  fs::path place = fs::absolute(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  given.path = place.string();
  given.step = source.step;
  given.hash = source.hash;
  const VocabularyTensor last = vocabulary_tensor(source.config.model);
  for (const auto& [name, tensor] : run::whole_weights(source.folder, source.config, checkpoint)) {
    given.n_parameter += tensor.numel();
    if (name == last.name) given.n_vocab = last.n_before + tensor.dim(0);
  }
  given.training = run::inherited(source, /*with_data=*/false);
  given.training.emplace_back("precision", run::value_of(source.config.settings, "precision"));
  return given;
}

std::string misfit(const GivenRun& given, const Experiment& experiment) {
  const std::string& trained = base_arm_of(experiment).posenc;
  const run::ResolvedConfig config = given.config();
  if (turns(trained, config) && !turns(given.posenc(), config))
    return concat("expects a run whose queries and keys are turned by position, as with ", trained,
                  ", not ", given.posenc());
  for (const Arm& arm : experiment.arms)
    for (const std::string& expression : {arm.posenc, arm.measured_posenc}) try {
        if (!expression.empty())
          run::canonical_posenc(on_given(given, experiment, arm, expression), config);
      } catch (const ConfigError& error) {
        const std::string_view what = error.what();  // with a place in the expression below it
        return concat(arm.label, ": ", what.substr(0, what.find('\n')));
      }
  return "";
}

std::string own_text(const GivenRun& given) {
  std::vector<run::DataUse> data;
  try {
    data = run::find_data(run::RunFolder::open(given.path));
  } catch (const IoError& error) {
    fail<IoError>(kWhere, "--base ", given.name,
                  ": expected the corpus of the run, or --dataset text=CORPUS; ", error.what());
  }
  require<ConfigError>(data.size() == 1, kWhere, "--base ", given.name,
                       ": expected a run of one corpus, or --dataset text=CORPUS, got one of ",
                       data.size());
  return "text=" + data.front().path;
}

void require_its_tokens(const GivenRun& given, const std::string& corpus) {
  data::CorpusOptions options;
  options.model_tokenizer = run::tokenizer_of(run::RunFolder::open(given.path));
  data::Corpus::open(corpus, options);
}

run::RunConfig itself(const GivenRun& given) {
  run::RunConfig config = run::to_run_config(given.name, given.training);
  config.init_from = given.path;
  config.init_step = given.step;
  config.init_hash = given.hash;
  config.steps = 0;
  return config;
}

void start_from(const GivenRun& given, const std::string& posenc, run::RunConfig& training) {
  // Another preset has other defaults.
  const TrainDefaults& usual = train_defaults(training.preset);
  training.lr = training.lr.value_or(usual.peak_lr);
  training.warmup = training.warmup.value_or(usual.warmup_fraction);
  training.lr_start = training.lr_start.value_or(usual.start_lr);
  training.lr_end = training.lr_end.value_or(usual.end_lr);
  training.weight_decay = training.weight_decay.value_or(usual.weight_decay);
  training.clip = training.clip.value_or(usual.max_grad_norm);
  training.schedule = training.schedule.value_or("neox");
  training.optimizer = training.optimizer.value_or("adamw");

  const run::RunConfig model = itself(given);
  training.preset = model.preset;
  training.n_layer = model.n_layer;
  training.n_head = model.n_head;
  training.d_model = model.d_model;
  training.d_ff = model.d_ff;
  training.architecture = model.architecture;
  training.cutoffs = model.cutoffs;
  training.hidden_dropout = model.hidden_dropout;
  training.attention_dropout = model.attention_dropout;
  training.activation_dropout = model.activation_dropout;
  training.tail_dropout = model.tail_dropout;
  training.train_len = model.train_len;
  training.init_from = model.init_from;
  training.init_step = model.init_step;
  training.init_hash = model.init_hash;
  training.lr = *training.lr * std::min(1.0, kTunedWidth / static_cast<double>(*model.d_model));
  training.checkpoint_activations = given.train_len() >= kLongSequence;
  const run::ResolvedConfig config = given.config();
  if (config.model.is_adaptive()) training.logits.reset();  // they are in float32
  training.posenc = run::canonical_posenc(posenc, config);
}

std::string on_given(const GivenRun& given, const Experiment& experiment, const Arm& arm,
                     const std::string& expression) {
  const std::string& trained = base_arm_of(experiment).posenc;
  if (expression == trained) return given.posenc();
  const auto at_its_length = [&](const std::string& text) {
    return arm.is_scaled
               ? expression_for(given.train_len(), given.number("n-head"), text, arm.meant_for)
               : text;
  };
  const std::string before = trained + " + ";
  if (expression.starts_with(before))
    return given.posenc() + " + " + at_its_length(expression.substr(before.size()));
  return with_rotation(given, trained, at_its_length(expression));
}

std::string short_name(const GivenRun& given) {
  return concat("step ", given.step, " of ", given.name, " (weights ", given.hash.substr(0, 16),
                ')');
}

std::string describe(const GivenRun& given) {
  const auto of = [&](const char* key) { return run::value_of(given.training, key); };
  return concat(short_name(given), ": ", given.posenc(), ", L = ", of("train-len"), ", ",
                of("n-layer"), " layers, ", of("n-head"), " heads, width ", of("d-model"), ", ",
                given.n_parameter, " parameters, seed ", of("seed"));
}

std::string describe_for_given(Scale scale, const GivenRun& given) {
  const run::RunConfig c = training_of(scale, Size::base);
  const int64_t unit = profile_of(scale).unit;
  return concat(to_word(scale),
                ": it sets the steps and the batch of fine-tunes, how much text is measured, and "
                "the thresholds. The model and L are those of the given run, and distances in "
                "tokens follow its L; a whole training of this scale has ",
                *c.steps, " steps of ", *c.batch, " sequences",
                given.train_len() > unit ? concat(". The L of this scale is ", unit,
                                                  ", so sequences are fewer here, in "
                                                  "as many tokens, and at least one")
                                         : "");
}

run::Settings to_settings(const GivenRun& given) {
  return {{"run", given.name},
          {"step", std::to_string(given.step)},
          {"weights", given.hash},
          {"parameters", std::to_string(given.n_parameter)},
          {"vocab_size", std::to_string(given.n_vocab)},
          {"training", run::config_text(given.training)}};
}

GivenRun given_of(const run::Settings& settings, const std::string& file) {
  const auto number = [&](const char* key) {
    const std::string text = run::value_of(settings, key);
    int64_t value = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    require<IoError>(read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= 0,
                     kWhere, file, ": expected a whole number '", key, "' of the given run, got '",
                     text, "'; the file is damaged");
    return value;
  };
  GivenRun given;
  given.name = run::value_of(settings, "run");
  given.step = number("step");
  given.hash = run::value_of(settings, "weights");
  given.n_parameter = number("parameters");
  given.n_vocab = number("vocab_size");
  given.training = run::parse_settings(file, run::value_of(settings, "training"));
  return given;
}

}  // namespace farfield::sweep
