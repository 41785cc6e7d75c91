#include "apps/hub/export.h"

#include <filesystem>
#include <map>
#include <numeric>
#include <utility>

#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/hub/class_config.h"
#include "apps/hub/export_gguf.h"
#include "apps/hub/export_weights.h"
#include "apps/hub/exported_encoding.h"
#include "apps/hub/exported_run.h"
#include "apps/hub/own_class.h"
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

// What of a folder depends on the class.
struct ExportedModel {
  std::string class_name, config;
  run::NamedTensors tensors;
  int64_t n_parameter = 0;
  int64_t max_length = 0;  // tokens
  std::string encoding;    // for people
};

int64_t numel(const run::NamedTensors& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), int64_t{0},
                         [](int64_t n, const auto& item) { return n + item.second.numel(); });
}

ExportedModel stock_model(const ExportRequest& request, const ModelConfig& model,
                          const ConfigNotes& notes, std::map<std::string, Tensor> weights) {
  const ExportedEncoding encoding = exported_encoding(model);
  const ModelClass stock = model_class(model, encoding, notes);
  ExportedModel made{
      .class_name = stock.name,
      .config = stock.config,
      .tensors = export_weights(model, weight_names(stock.model_type), std::move(weights),
                                {request.dtype, encoding.n_position, request.run}),
      .max_length = model.train_len,
      .encoding = encoding.text};
  made.n_parameter = numel(made.tensors);
  return made;
}

ExportedModel own_model(const ExportRequest& request, const ModelConfig& model,
                        const ConfigNotes& notes, std::map<std::string, Tensor> weights,
                        uint64_t seed) {
  OwnModel own =
      own_class(model, std::move(weights),
                {.notes = notes, .length = request.length, .seed = seed, .where = request.run});
  for (const std::string& remark : own.remarks) cli::remarks() << "model: " << remark << '\n';
  return {.class_name = kOwnClass,
          .config = std::move(own.config),
          .tensors = std::move(own.tensors),
          .n_parameter = own.n_parameter,
          .max_length = own.length,
          .encoding = concat(model.posenc, ", tables for ", own.length, " tokens")};
}

// Whether our own class is to compute a model. ConfigError for one that it does not compute, or
// that the library does not, if that is asked for.
bool takes_own(const ExportRequest& request, const ModelConfig& model, const ConfigNotes& notes) {
  if (request.choice != ClassChoice::own) {
    try {
      model_class(model, exported_encoding(model), notes);
      require<ConfigError>(!request.length, "hub",
                           "--length: expected none for a class of the "
                           "library, which has no tables; --class own writes a folder with them");
      return false;
    } catch (const NoClass&) {
      if (request.choice == ClassChoice::stock) throw;
    }
  }
  require_own_class(model, request.length);
  return true;
}

}  // namespace

void export_model(const ExportRequest& request, std::ostream& out) {
  require<ConfigError>(!is_there(request.out), "hub", "--out ", request.out,
                       ": expected a folder that is not there yet, got one; remove it, or choose "
                       "another name");
  const run::SourceRun source = run::open_source(request.run, request.step, {});
  const data::TokenizerPtr tokenizer = run::tokenizer_of(source.folder);
  const ConfigNotes notes = notes_of(tokenizer, request.dtype);
  // Before the weights are read: what cannot be exported is refused at once.
  const bool is_own = takes_own(request, source.config.model, notes);

  ExportedRun exported = read_exported(source);
  const ModelConfig& model = exported.model;
  const ExportedModel made_model =
      is_own ? own_model(request, model, notes, std::move(exported.weights), source.config.seed)
             : stock_model(request, model, notes, std::move(exported.weights));

  AtomicFolder made(request.out);
  const fs::path folder = made.folder();
  write_file_atomic(folder / "config.json", made_model.config);
  if (is_own)
    for (const auto& [name, text] : own_class_files()) write_file_atomic(folder / name, text);
  write_file_atomic(folder / "generation_config.json",
                    generation_config(notes, tokenizer ? tokenizer->n_vocab() : model.vocab_size,
                                      model.vocab_size));
  if (tokenizer && !tokenizer->file().empty()) {
    write_file_atomic(folder / std::string(data::kTokenizerFile), tokenizer->file());
    write_file_atomic(folder / "tokenizer_config.json",
                      tokenizer_config(source.folder.tokenizer().string(), tokenizer->file(), notes,
                                       made_model.max_length));
  } else {
    cli::remarks() << "model: " << request.run << " has no tokenizer's file ("
                   << (tokenizer ? tokenizer->name() : "none")
                   << "): the folder has none, and takes token ids\n";
  }
  write_safetensors(folder / "model.safetensors", made_model.tensors,
                    {{"format", "pt"},
                     {"farfield_step", std::to_string(source.step)},
                     {"farfield_model_hash", source.hash}});
  made.commit();
  if (is_own)
    cli::remarks() << "model: " << request.out
                   << " has code of our own: from_pretrained() opens it with "
                      "trust_remote_code=True\n";
  out << "model: " << request.out << " from " << request.run << " at step " << source.step << ": "
      << made_model.class_name << ", "
      << fixed(static_cast<double>(made_model.n_parameter) * 1e-6, 1) << "M parameters in "
      << (request.dtype == DType::bf16 ? "bfloat16" : "float32") << ", " << made_model.encoding
      << '\n';
}

int export_command(int argc, const char* const* argv, std::ostream& out) {
  ExportRequest request;
  std::string dtype = "fp32", choice = "auto", format = "hf";
  cli::Options options(
      "model export",
      "Makes a Hugging Face folder of a run, which from_pretrained() of transformers opens: "
      "config.json, generation_config.json, model.safetensors, and the tokenizer's files if it is "
      "not built in. Where a class of the library computes the model exactly, no code of ours is "
      "needed. For other models the folder has the code of our own class, which "
      "trust_remote_code=True admits, and tables of the positional encoding. With --format gguf, "
      "one "
      "file for llama.cpp.");
  options.add_positional("RUN", request.run, "the run, of train or of model import")
      .group("Folder")
      .add("out", request.out, "FOLDER", "the new folder, of --format gguf the new file")
      .add("format", format, "hf|gguf", "hf: a Hugging Face folder; gguf: a file for llama.cpp")
      .add("dtype", dtype, "fp32|bf16", "type of the weights; bf16 rounds them")
      .add("step", request.step, "N", "the checkpoint of this step (default: the newest)")
      .add("class", choice, "auto|stock|own",
           "whose class computes it: the library's if one fits, else our own; the library's, or a "
           "refusal that says why; our own")
      .add("length", request.length, "N",
           concat("tokens that the tables of our own class reach; it refuses longer inputs "
                  "(default: ",
                  kOwnLengths, " times the training length, or as far as the encoding goes)"));
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!request.run.empty(), "model", "expected model export RUN --out FOLDER");
  require<ConfigError>(!request.out.empty(), "model", "expected --out FOLDER, the folder to make");
  require<ConfigError>(dtype == "fp32" || dtype == "bf16", "model",
                       "--dtype: expected fp32 or bf16, got '", dtype, '\'');
  require<ConfigError>(choice == "auto" || choice == "stock" || choice == "own", "model",
                       "--class: expected auto, stock or own, got '", choice, '\'');
  require<ConfigError>(!request.length || *request.length >= 1, "model",
                       "--length: expected at least 1 token, got ", request.length.value_or(1));
  request.choice = choice == "own"     ? ClassChoice::own
                   : choice == "stock" ? ClassChoice::stock
                                       : ClassChoice::first_fit;
  require<ConfigError>(format == "hf" || format == "gguf", "model",
                       "--format: expected hf or gguf, got '", format, '\'');
  require<ConfigError>(format == "hf" || (choice == "auto" && !request.length), "model",
                       "--class and --length: expected neither of them beside --format gguf");
  request.dtype = dtype == "bf16" ? DType::bf16 : DType::f32;
  if (format == "gguf")
    export_gguf(request, out);
  else
    export_model(request, out);
  return cli::kDone;
}

}  // namespace farfield::hub
