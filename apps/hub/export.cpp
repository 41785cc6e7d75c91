#include "apps/hub/export.h"

#include <filesystem>
#include <utility>

#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/hub/class_config.h"
#include "apps/hub/export_gguf.h"
#include "apps/hub/export_weights.h"
#include "apps/hub/exported_encoding.h"
#include "apps/hub/exported_run.h"
#include "apps/hub/weight_names.h"
#include "apps/run/corpus.h"
#include "apps/run/source_run.h"
#include "data/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/safetensors.h"

namespace farfield::hub {
namespace {

namespace fs = std::filesystem;

// The ids around a text of a tokenizer that the folder gets.
ConfigNotes notes_of(const data::TokenizerPtr& tokenizer, DType dtype) {
  ConfigNotes notes;
  notes.dtype = dtype;
  if (!tokenizer) return notes;
  if (tokenizer->end_of_document() != data::Tokenizer::kNone)
    notes.end_of_text = tokenizer->end_of_document();
  if (!tokenizer->begin_of_text().empty()) notes.begin_of_text = tokenizer->begin_of_text().front();
  return notes;
}

// The text of a special token, as tokenizer.json has it: null for one that is not listed there.
Json content_of(const Json& file, const std::optional<int32_t>& id) {
  if (!id || !file.contains("added_tokens") || !file["added_tokens"].is_array()) return nullptr;
  for (const Json& token : file["added_tokens"])
    if (token.is_object() && whole_member<int64_t>(token, "id") == *id && token.contains("content"))
      return token["content"];
  return nullptr;
}

std::string tokenizer_config(const std::string& name, const std::string& text,
                             const ConfigNotes& notes, int64_t max_length) {
  const Json file = read_json({"hub", name, text});
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                 {"model_max_length", max_length},
                 {"clean_up_tokenization_spaces", false}};
  if (const Json begin = content_of(file, notes.begin_of_text); !begin.is_null())
    config["bos_token"] = begin;
  if (const Json end = content_of(file, notes.end_of_text); !end.is_null())
    config["eos_token"] = end;
  return write_json(config, 2) + "\n";
}

// Rows of the vocabulary behind the last id of the tokenizer were never trained as targets: no text
// generated should have them.
std::string generation_config(const ConfigNotes& notes, int64_t n_id, int64_t n_row) {
  constexpr int64_t kMostSuppressed = 4096;
  Json config = Json::object();
  if (notes.begin_of_text) config["bos_token_id"] = *notes.begin_of_text;
  if (notes.end_of_text) config["eos_token_id"] = *notes.end_of_text;
  if (n_id < n_row && n_row - n_id <= kMostSuppressed)
    for (int64_t id = n_id; id < n_row; ++id) config["suppress_tokens"].push_back(id);
  return write_json(config, 2) + "\n";
}

}  // namespace

void export_model(const ExportRequest& request, std::ostream& out) {
  require<ConfigError>(!is_there(request.out), "hub", "--out ", request.out,
                       ": expected a folder that is not there yet, got one; remove it, or choose "
                       "another name");
  const run::SourceRun source = run::open_source(request.run, request.step, {});
  const ExportedEncoding encoding = exported_encoding(source.config.model);
  const data::TokenizerPtr tokenizer = run::tokenizer_of(source.folder);
  const ConfigNotes notes = notes_of(tokenizer, request.dtype);
  // Before the weights are read: what cannot be exported is refused at once.
  model_class(source.config.model, encoding, notes);

  ExportedRun exported = read_exported(source);
  const ModelConfig& model = exported.model;
  const ModelClass stock = model_class(model, encoding, notes);
  const run::NamedTensors tensors =
      export_weights(model, weight_names(stock.model_type), std::move(exported.weights),
                     {request.dtype, encoding.n_position, request.run});
  int64_t n_parameter = 0;
  for (const auto& item : tensors) n_parameter += item.second.numel();

  AtomicFolder made(request.out);
  const fs::path folder = made.folder();
  write_file_atomic(folder / "config.json", stock.config);
  write_file_atomic(folder / "generation_config.json",
                    generation_config(notes, tokenizer ? tokenizer->n_vocab() : model.vocab_size,
                                      model.vocab_size));
  if (tokenizer && !tokenizer->file().empty()) {
    write_file_atomic(folder / std::string(data::kTokenizerFile), tokenizer->file());
    write_file_atomic(folder / "tokenizer_config.json",
                      tokenizer_config(source.folder.tokenizer().string(), tokenizer->file(), notes,
                                       model.train_len));
  } else {
    cli::remarks() << "model: " << request.run << " has no tokenizer's file ("
                   << (tokenizer ? tokenizer->name() : "none")
                   << "): the folder has none, and takes token ids\n";
  }
  write_safetensors(folder / "model.safetensors", tensors,
                    {{"format", "pt"},
                     {"farfield_step", std::to_string(source.step)},
                     {"farfield_model_hash", source.hash}});
  made.commit();
  out << "model: " << request.out << " from " << request.run << " at step " << source.step << ": "
      << stock.name << ", " << fixed(static_cast<double>(n_parameter) * 1e-6, 1)
      << "M parameters in " << (request.dtype == DType::bf16 ? "bfloat16" : "float32") << ", "
      << encoding.text << '\n';
}

int export_command(int argc, const char* const* argv, std::ostream& out) {
  ExportRequest request;
  std::string dtype = "fp32", format = "hf";
  cli::Options options(
      "model export",
      "Makes a Hugging Face folder of a run, which from_pretrained() of transformers opens without "
      "code of ours: config.json, generation_config.json, model.safetensors, and the tokenizer's "
      "files if it is not built in. A model that no class of the library computes exactly is "
      "refused, saying why. With --format gguf, one file for llama.cpp.");
  options.add_positional("RUN", request.run, "the run, of train or of model import")
      .group("Folder")
      .add("out", request.out, "FOLDER", "the new folder, of --format gguf the new file")
      .add("format", format, "hf|gguf", "hf: a Hugging Face folder; gguf: a file for llama.cpp")
      .add("dtype", dtype, "fp32|bf16", "type of the weights; bf16 rounds them")
      .add("step", request.step, "N", "the checkpoint of this step (default: the newest)");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!request.run.empty(), "model", "expected model export RUN --out FOLDER");
  require<ConfigError>(!request.out.empty(), "model", "expected --out FOLDER, the folder to make");
  require<ConfigError>(dtype == "fp32" || dtype == "bf16", "model",
                       "--dtype: expected fp32 or bf16, got '", dtype, '\'');
  require<ConfigError>(format == "hf" || format == "gguf", "model",
                       "--format: expected hf or gguf, got '", format, '\'');
  request.dtype = dtype == "bf16" ? DType::bf16 : DType::f32;
  if (format == "gguf")
    export_gguf(request, out);
  else
    export_model(request, out);
  return cli::kDone;
}

}  // namespace farfield::hub
