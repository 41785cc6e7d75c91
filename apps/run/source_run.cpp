#include "apps/run/source_run.h"

#include "apps/run/corpus.h"
#include "apps/run/parameter_bounds.h"
#include "apps/run/peft.h"
#include "apps/run/weights.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/transformer.h"

namespace fs = std::filesystem;

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "train";

// Settings of one call or one machine, and the settings that say where weights come from.
const std::vector<std::string> kOwnSettings = {"lora",
                                               "train-also",
                                               "base-precision",
                                               "lengths",
                                               "name",
                                               "imported",
                                               "data",
                                               "init-from",
                                               "init-step",
                                               "init-hash",
                                               "map",
                                               "drop-learned",
                                               "device",
                                               "precision",
                                               "logits",
                                               "tune",
                                               "cuda-graph",
                                               "accumulate",
                                               "threads",
                                               "tensor-parallel",
                                               "deterministic-reduce",
                                               "async-save",
                                               "log-every",
                                               "valid-every",
                                               "checkpoint-activations",
                                               "nonfinite",
                                               "keep",
                                               "keep-every",
                                               "checkpoint-every",
                                               "valid-windows"};
// What describes the corpora of a run, beside "data".
const std::vector<std::string> kDataSettings = {"tokenizer", "vocab-size", "end-of-text",
                                                "data-type", "data-split"};

// All weights of a source.
std::map<std::string, Tensor> weights_of(const SourceRun& source, int depth) {
  const Checkpoint checkpoint =
      load_checkpoint(find_checkpoint(source.folder.checkpoints(), source.step),
                      /*with_optimizer=*/false);
  require<IoError>(checkpoint.model_hash == source.hash, "checkpoint",
                   source.folder.path().string(), ": expected weights of hash ", source.hash,
                   " at step ", source.step, ", got ", checkpoint.model_hash);
  return whole_weights(source.folder, source.config, checkpoint, depth);
}

}  // namespace

SourceRun open_source(const std::string& path, std::optional<int64_t> step,
                      const std::optional<std::string>& hash) {
  RunFolder folder = RunFolder::open(path);
  const std::string file = (folder.path() / "config.conf").string();
  ResolvedConfig config = config_of_file(file, folder.config(), "cpu");
  const fs::path checkpoint = find_checkpoint(folder.checkpoints(), step);
  const CheckpointRecord record = read_record(checkpoint);
  check_same_config(record.state, file, folder.config(), /*same_device=*/false);
  require<ConfigError>(!hash || *hash == record.model_hash, kWhere, "--init-from ", path,
                       ": expected weights of hash ", hash.value_or(""), " at step ",
                       record.state.step, ", got ", record.model_hash,
                       "; it is not the run that --init-hash was recorded of");
  return {std::move(folder), std::move(config), record.state.step, record.model_hash};
}

Settings inherited(const SourceRun& source, bool with_data) {
  Settings settings = without(source.folder.config(), kOwnSettings);
  if (source.config.steps == 0) settings = without(settings, {"steps"});  // of merged adapters
  if (!source.config.task.empty()) settings = without(settings, {"train-len"});  // the task's
  if (!with_data) return without(settings, kDataSettings);
  for (const DataUse& use : find_data(source.folder)) settings.emplace_back("data", to_text(use));
  return settings;
}

void complete(RunConfig& request, const SourceRun& source) {
  const std::string mask = source.config.model.sees_later ? "none" : "causal";
  require<ConfigError>(!source.config.task.empty() || request.mask.value_or("causal") == mask,
                       kWhere, "--mask: expected ", mask, ", as ", source.folder.path().string(),
                       " was trained with on text, got ", request.mask.value_or("causal"));
  request.init_step = source.step;
  request.init_hash = source.hash;
  request.posenc = canonical_posenc(request.posenc, source.config);
}

void require_same_shape(const ResolvedConfig& config, const SourceRun& source) {
  for (const char* key :
       {"n-layer", "n-head", "d-model", "d-ff", "architecture", "cutoffs", "preset"}) {
    const std::string own = value_of(config.settings, key),
                      theirs = value_of(source.config.settings, key);
    require<ConfigError>(own == theirs, kWhere, "--", key, ": expected ",
                         theirs.empty() ? "none" : theirs, ", as ", source.folder.path().string(),
                         " has, which gives the initial weights, got ", own.empty() ? "none" : own,
                         "; leave it out");
  }
}

SourceRun find_source(const RunFolder& run, const ResolvedConfig& config) {
  const ResolvedConfig::Init& init = config.init.value();
  std::vector<fs::path> places = {init.from};
  if (const std::vector<Ancestor> lineage = lineage_of(run); !lineage.empty()) {
    const Place& place = lineage.back().place;
    if (!place.from_run.empty())
      places.push_back((real_path(run.path()) / place.from_run).lexically_normal());
    if (!place.absolute.empty()) places.emplace_back(place.absolute);
  }
  std::string why;
  for (const fs::path& place : places) {
    try {
      return open_source(place.string(), init.step, init.hash);
    } catch (const Error& error) {  // another run, or none
      if (why.empty()) why = error.what();
    }
  }
  fail<IoError>(
      "run", run.path().string(), ": expected the run whose weights it started from (step ",
      init.step, ", weights ", init.hash, "), got none at ",
      joined(places, ", nor at ", [](const fs::path& p) { return p.string(); }), "; ", why);
}

std::map<std::string, Tensor> whole_weights(const RunFolder& run, const ResolvedConfig& config,
                                            const Checkpoint& checkpoint, int depth) {
  constexpr int kMostRuns = 100;
  if (!config.model.adapters) return checkpoint.model;
  require<IoError>(depth < kMostRuns, "run", run.path().string(), ": expected at most ", kMostRuns,
                   " runs with adapters that start from each other; does one start from itself?");
  const SourceRun source = find_source(run, config);
  const VocabularyTensor last = vocabulary_tensor(config.model);
  const std::map<std::string, Tensor> base = weights_of(source, depth + 1);
  const auto head = base.find(last.name);
  require<IoError>(head != base.end() && head->second.rank() == 2, "checkpoint",
                   source.folder.path().string(), ": expected a matrix '", last.name,
                   "', got none");
  ModelConfig shape = config.model_of(last.n_before + head->second.dim(0));
  Transformer model(shape, config.seed);
  load_weights_of(source.folder.path().string(), source.config.posenc(), model, base,
                  config.init->drop_learned, config.init->map);
  std::vector<Parameter> trained = model.trained_parameters();
  load_weights(trained, checkpoint.model);
  std::map<std::string, Tensor> weights;
  for (const Parameter& p : model.parameters()) weights.emplace(p.name, p.value.detach());
  const NoGrad no_grad;
  merge_adapters(checkpoint.model, config.settings, weights);
  return weights;
}

Unmatched take_weights(const SourceRun& source, const ResolvedConfig::Init& how,
                       Transformer& model) {
  const std::string where = source.folder.path().string();
  const bool is_same = model.encoding().canonical() == source.config.posenc();
  require<ConfigError>(!is_same || (how.map.empty() && !how.drop_learned), kWhere,
                       how.map.empty() ? "--drop-learned" : "--map",
                       ": expected another --posenc than ", source.config.posenc(), ", which ",
                       where, " was trained with");
  Unmatched unmatched = load_weights_of(where, source.config.posenc(), model, weights_of(source, 0),
                                        how.drop_learned, how.map);
  model.start_magnitudes();
  check_parameter_bounds(model.encoding(), where);
  return unmatched;
}

std::vector<Ancestor> lineage_with(const SourceRun& source, const std::string& run) {
  std::vector<Ancestor> lineage = lineage_of(source.folder);
  const std::string path = source.folder.path().string();
  lineage.push_back({.run = path,
                     .place = place_of(path, run),
                     .step = source.step,
                     .hash = source.hash,
                     .posenc = source.config.posenc()});
  return lineage;
}

}  // namespace farfield::run
