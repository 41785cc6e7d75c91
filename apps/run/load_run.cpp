#include "apps/run/load_run.h"

#include "apps/run/parameter_bounds.h"
#include "apps/run/source_run.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::run {
namespace {

namespace fs = std::filesystem;

Checkpoint choose(const fs::path& folder, std::optional<int64_t> step) {
  return step ? load_checkpoint(find_checkpoint(folder, step), /*with_optimizer=*/false)
              : load_newest_checkpoint(folder, /*with_optimizer=*/false);
}

// Of an encoder on text, as its manifest records it.
std::optional<int32_t> mask_token_of(const RunFolder& run, const ResolvedConfig& config,
                                     int64_t n_vocab) {
  if (!config.is_masked()) return std::nullopt;
  const std::optional<int64_t> id = whole_member<int64_t>(read_manifest(run), "mask_token");
  require<IoError>(id && *id >= 0 && *id < n_vocab, "run", run.manifest().string(),
                   ": expected the id of the mask token as 'mask_token', below ", n_vocab, ", got ",
                   id ? std::to_string(*id) : "none");
  return static_cast<int32_t>(*id);
}

}  // namespace

LoadedRun load_run(const std::string& path, const LoadOptions& options) {
  RunFolder folder = RunFolder::open(path);
  const std::string file = (folder.path() / "config.conf").string();
  ResolvedConfig config = config_of_file(file, folder.config(), options.device);
  if (options.precision) config.dtype = dtype_of_precision(*options.precision);
  const Checkpoint checkpoint = choose(folder.checkpoints(), options.step);
  check_same_config(checkpoint.state, file, folder.config(), /*same_device=*/false);
  const std::map<std::string, Tensor> weights = whole_weights(folder, config, checkpoint);
  const VocabularyTensor last = vocabulary_tensor(config.model);
  const auto head = weights.find(last.name);
  require<IoError>(head != weights.end() && head->second.rank() == 2, "checkpoint", path,
                   ": expected a matrix '", last.name, "', got none");
  // Otherwise a matrix without columns, of no bytes, could ask for any number of tokens.
  const int64_t width = config.model.band_width(config.model.n_band() - 1);
  require<IoError>(head->second.dim(1) == width, "checkpoint", path, ": expected ", width,
                   " columns in '", last.name, "', got ", head->second.shape(),
                   "; it is of another model");
  ModelConfig shape = config.model_of(last.n_before + head->second.dim(0));
  shape.adapters.reset();  // they are in the weights
  if (options.posenc) shape.posenc = canonical_posenc(*options.posenc, config);
  std::string posenc = shape.posenc;
  if (options.window > 0)
    shape.posenc = canonical_posenc(concat(posenc, " + window(", options.window, ')'), config);
  Transformer model = Transformer::to_load(shape, config.seed, config.dtype, config.device);
  Unmatched unmatched =
      load_weights_of(path, config.posenc(), model, weights, options.drop_learned,
                      posenc == config.posenc() ? std::vector<std::string>() : options.map);
  check_parameter_bounds(
      model.encoding(),
      weights_file(find_checkpoint(folder.checkpoints(), checkpoint.state.step), checkpoint.state)
          .string());
  const std::optional<int32_t> mask_token = mask_token_of(folder, config, shape.vocab_size);
  return {std::move(folder), std::move(config), checkpoint.state,     checkpoint.model_hash,
          std::move(model),  std::move(posenc), std::move(unmatched), mask_token};
}

std::string unfinished_text(const RunFolder& folder) {
  const std::optional<int64_t> step = newest_step(folder.checkpoints());
  const RunConfig config = to_run_config((folder.path() / "config.conf").string(), folder.config());
  const int64_t steps = config.steps.value_or(0);
  return step && *step < steps ? concat("step ", *step, " of ", steps) : "";
}

}  // namespace farfield::run
