#include "apps/run/load_run.h"

#include <algorithm>

#include "apps/run/parameter_bounds.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::run {
namespace {

namespace fs = std::filesystem;

// The checkpoint of a step; empty when there is none.
fs::path checkpoint_of(const RunFolder& folder, int64_t step) {
  for (const fs::path& path : list_checkpoints(folder.checkpoints()))
    if (std::stoll(path.filename().string().substr(5)) == step) return path;
  return {};
}

Checkpoint choose(const RunFolder& folder, std::optional<int64_t> step) {
  if (!step) return load_newest_checkpoint(folder.checkpoints(), /*with_optimizer=*/false);
  const fs::path found = checkpoint_of(folder, *step);
  if (!found.empty()) return load_checkpoint(found, /*with_optimizer=*/false);
  const std::vector<fs::path> there = list_checkpoints(folder.checkpoints());
  const auto name = [](const fs::path& path) { return path.filename().string(); };
  fail<IoError>("checkpoint", folder.checkpoints().string(), ": expected a checkpoint of step ",
                *step, ", got ", there.empty() ? "none" : joined(there, ", ", name));
}

}  // namespace

LoadedRun load_run(const std::string& path, const LoadOptions& options) {
  RunFolder folder = RunFolder::open(path);
  const std::string file = (folder.path() / "config.conf").string();
  ResolvedConfig config = config_of_file(file, folder.config(), options.device);
  const Checkpoint checkpoint = choose(folder, options.step);
  check_same_config(checkpoint.state, file, folder.config(), /*same_device=*/false);
  const VocabularyTensor last = vocabulary_tensor(config.model);
  const auto head = checkpoint.model.find(last.name);
  require<IoError>(head != checkpoint.model.end() && head->second.rank() == 2, "checkpoint", path,
                   ": expected a matrix '", last.name, "', got none");
  // Otherwise a matrix without columns, of no bytes, could ask for any number of tokens.
  const int64_t width = config.model.band_width(config.model.n_band() - 1);
  require<IoError>(head->second.dim(1) == width, "checkpoint", path, ": expected ", width,
                   " columns in '", last.name, "', got ", head->second.shape(),
                   "; it is of another model");
  ModelConfig shape = config.model_of(last.n_before + head->second.dim(0));
  if (options.posenc) shape.posenc = canonical_posenc(*options.posenc, config);
  std::string posenc = shape.posenc;
  if (options.window > 0)
    shape.posenc = canonical_posenc(concat(posenc, " + window(", options.window, ')'), config);
  Transformer model(shape, config.seed, config.dtype, config.device);
  Unmatched unmatched =
      load_weights_of(path, config.posenc(), model, checkpoint.model, options.drop_learned,
                      posenc == config.posenc() ? std::vector<std::string>() : options.map);
  check_parameter_bounds(
      model.encoding(),
      (checkpoint_of(folder, checkpoint.state.step) / "model.safetensors").string());
  return {std::move(folder), std::move(config), checkpoint.state,    checkpoint.model_hash,
          std::move(model),  std::move(posenc), std::move(unmatched)};
}

std::string unfinished_text(const RunFolder& folder) {
  const std::optional<int64_t> step = newest_step(folder.checkpoints());
  const RunConfig config = to_run_config((folder.path() / "config.conf").string(), folder.config());
  const int64_t steps = config.steps.value_or(0);
  return step && *step < steps ? concat("step ", *step, " of ", steps) : "";
}

}  // namespace farfield::run
