#include "apps/hub/import.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/hub/architecture.h"
#include "apps/hub/convert.h"
#include "apps/hub/weight_files.h"
#include "apps/run/architecture.h"
#include "apps/run/folder.h"
#include "apps/run/resolved_config.h"
#include "apps/train/metrics.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::hub {
namespace {

constexpr std::string_view kWhere = "hub";

// The tokenizer of a folder, or another one; without any, ids alone are known.
data::TokenizerPtr tokenizer_of(const ImportRequest& request, const Architecture& architecture) {
  const fs::path folder = request.folder;
  const bool has_one = is_there(folder / "tokenizer.json") ||
                       (is_there(folder / "vocab.json") && is_there(folder / "merges.txt"));
  const int64_t n_vocab = architecture.model.vocab_size;
  const bool has_end = architecture.end_of_text && *architecture.end_of_text < n_vocab;
  if (request.tokenizer.empty() && !has_one) {
    for (const char* other : {"tokenizer.model", "spiece.model"})
      require<IoError>(!is_there(folder / other), kWhere, (folder / other).string(),
                       ": expected tokenizer.json, got a SentencePiece model alone; "
                       "AutoTokenizer.from_pretrained(folder).save_pretrained(folder) of "
                       "transformers writes tokenizer.json; or name a tokenizer with --tokenizer");
    cli::remarks() << "model: " << request.folder
                   << " has no tokenizer.json: the run reads corpora of token ids alone, and "
                      "--tokenizer names a tokenizer\n";
    return data::make_tokenizer(has_end ? concat("ids:", n_vocab, ':', *architecture.end_of_text)
                                        : concat("ids:", n_vocab));
  }
  data::TokenizerOptions options;
  if (has_end) options.end_of_document = architecture.end_of_text;
  return data::make_tokenizer(request.tokenizer.empty() ? request.folder : request.tokenizer,
                              options);
}

// The settings of a run with this architecture that has trained no step.
run::ResolvedConfig settings_of(const std::string& folder, const Architecture& architecture,
                                const std::string& name) {
  const ModelConfig& model = architecture.model;
  run::RunConfig config;
  config.preset = "small";
  config.n_layer = model.n_layer;
  config.n_head = model.n_head;
  config.d_model = model.d_model;
  config.d_ff = model.d_ff;
  if (model.is_adaptive()) config.cutoffs = joined(model.cutoffs, ",");
  config.train_len = model.train_len;
  config.architecture = run::architecture_of(model);
  config.posenc = model.posenc;
  config.name = name;
  config.steps = 0;
  config.imported = architecture.family;
  config.batch = 1;
  config.lr = 5e-5;  // for those who go on from here: fine-tuning
  config.device = "cpu";
  try {
    return run::resolve(config);
  } catch (const ConfigError& error) {  // the file's sizes and expression, not the command line's
    fail<IoError>(kWhere, folder, ": expected a model that can be built: ", error.what());
  }
}

std::string manifest_of(const ImportRequest& request, const Architecture& architecture,
                        const run::ResolvedConfig& config, const data::Tokenizer& tokenizer,
                        const WeightFiles& files, int64_t n_parameter, const std::string& hash) {
  const Json json = {{"config_hash", hash_hex(run::to_text(run::identity(config.settings)))},
                     {"imported",
                      {{"folder", fs::path(request.folder).lexically_normal().string()},
                       {"model_type", architecture.family},
                       {"dtype", architecture.dtype},
                       {"bytes", files.size_bytes()},
                       {"hash", hash}}},
                     {"tokenizer",
                      {{"name", tokenizer.name()},
                       {"hash", tokenizer.hash()},
                       {"end_of_document", tokenizer.end_of_document()}}},
                     {"vocab_size", architecture.model.vocab_size},
                     {"parameters", n_parameter}};
  return write_json(json, 2) + "\n";
}

std::string name_of(const ImportRequest& request) {
  if (!request.name.empty()) return request.name;
  const fs::path plain = fs::path(request.folder).lexically_normal();
  const std::string name = (plain.has_filename() ? plain : plain.parent_path()).filename().string();
  return name == "." || name == ".." ? "" : name;
}

Architecture read_folder(const fs::path& folder) {
  require<IoError>(is_folder(folder), kWhere, folder.string(),
                   ": expected a folder with config.json and model.safetensors, got ",
                   is_there(folder) ? "a file" : "none");
  const fs::path config = folder / "config.json";
  require<IoError>(is_file(config), kWhere, folder.string(),
                   ": expected config.json, as a Hugging Face model has, got none");
  return read_architecture(config.string(), read_file(config));
}

}  // namespace

void import_model(const ImportRequest& request, std::ostream& out) {
  require<ConfigError>(!is_there(request.out), kWhere, "--out ", request.out,
                       ": expected a folder that is not there yet, got one; remove it, or choose "
                       "another name");
  const Architecture architecture = read_folder(request.folder);
  const ModelConfig& model = architecture.model;
  WeightFiles files(request.folder);
  const data::TokenizerPtr tokenizer = tokenizer_of(request, architecture);
  require<IoError>(tokenizer->n_vocab() <= model.vocab_size, kWhere, request.folder,
                   ": expected a tokenizer of at most the ", model.vocab_size,
                   " ids of the embedding, got ", tokenizer->n_vocab());
  const run::ResolvedConfig config = settings_of(request.folder, architecture, name_of(request));

  cli::Progress progress = cli::Progress::on_stderr();
  const run::NamedTensors tensors = convert(architecture, files, [&](double share) {
    progress.update(std::lround(100 * share), 100,
                    concat("reading ", files.name(), ", ", std::lround(100 * share), " %"), false);
  });
  progress.erase();
  int64_t n_parameter = 0;
  for (const auto& item : tensors) n_parameter += item.second.numel();

  run::TrainState state;
  state.data_hash = files.hash();
  state.config = run::identity(config.settings);
  state.metrics = train::MetricsFile::empty_record();
  const run::RunFolder::Files own = {
      config.settings,
      manifest_of(request, architecture, config, *tokenizer, files, n_parameter, state.data_hash),
      train::MetricsFile::header(), tokenizer->file()};
  run::RunFolder::create(request.out, own, [&](const fs::path& checkpoints) {
    run::save_checkpoint(checkpoints, state, tensors, {}, {});
  });
  out << "model: " << request.out << " from " << request.folder << " (" << architecture.family
      << "): " << model.n_layer << " layers, " << model.n_head << " heads"
      << (model.n_kv_head > 0 ? concat(" (", model.n_kv_head, " of keys)") : "") << " of "
      << model.head_dim() << ", width " << model.d_model << ", "
      << fixed(static_cast<double>(n_parameter) * 1e-6, 1) << "M parameters, " << config.posenc()
      << ", trained on " << model.train_len << " tokens; tokenizer " << tokenizer->name() << ", "
      << tokenizer->n_vocab() << " ids\n";
}

int import_command(int argc, const char* const* argv, std::ostream& out) {
  ImportRequest request;
  cli::Options options(
      "model import",
      "Makes a run of a Hugging Face folder (config.json, model.safetensors or its shards, "
      "tokenizer.json), which eval, inspect, generate and train --init-from take like a run of "
      "train. Families: " +
          joined(families(), ", ") +
          ". Weights in float32, bfloat16 or float16 become float32; what a model asks for that is "
          "not implemented is refused by its key.");
  options.add_positional("FOLDER", request.folder, "the Hugging Face folder")
      .group("Run")
      .add("out", request.out, "RUN", "folder of the new run")
      .add("name", request.name, "LABEL",
           "name of the run in tables and legends (default: the name of FOLDER)")
      .add("tokenizer", request.tokenizer, "NAME|PATH",
           "another tokenizer than FOLDER's (default: tokenizer.json, or vocab.json and merges.txt "
           "of FOLDER)");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!request.folder.empty(), "model", "expected model import FOLDER --out RUN");
  require<ConfigError>(!request.out.empty(), "model", "expected --out RUN, the folder to make");
  import_model(request, out);
  return cli::kDone;
}

}  // namespace farfield::hub
