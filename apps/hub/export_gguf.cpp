#include "apps/hub/export_gguf.h"

#include <string>
#include <utility>
#include <vector>

#include "apps/cli/progress.h"
#include "apps/hub/exported_encoding.h"
#include "apps/hub/exported_run.h"
#include "apps/hub/gguf_architecture.h"
#include "apps/hub/gguf_tokenizer.h"
#include "apps/hub/gguf_weights.h"
#include "apps/hub/gguf_writer.h"
#include "apps/run/corpus.h"
#include "apps/run/source_run.h"
#include "data/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

// Of all matrices, by its number in llama.cpp.
int64_t file_type(DType dtype) { return dtype == DType::bf16 ? 32 : 0; }

}  // namespace

void export_gguf(const ExportRequest& request, std::ostream& out) {
  require<ConfigError>(!is_there(request.out), "hub", "--out ", request.out,
                       ": expected a file that is not there yet, got one; remove it, or choose "
                       "another name");
  require_writable_file(request.out);
  const run::SourceRun source = run::open_source(request.run, request.step, {});
  const ExportedEncoding encoding = exported_encoding(source.config.model, kGgufArchitectures);
  // Before the weights are read: what cannot be exported is refused at once.
  const GgufArchitecture architecture = gguf_architecture(source.config.model, encoding);
  const data::TokenizerPtr tokenizer = run::tokenizer_of(source.folder);

  ExportedRun exported = read_exported(source);
  GgufMetadata metadata;
  // No general.name: llama.cpp splits text in another way if some words are in it.
  metadata.add_text("general.architecture", architecture.name);
  metadata.add_text("general.type", "model");
  metadata.add_count("general.file_type", file_type(request.dtype));
  metadata.add_count("general.alignment", static_cast<int64_t>(kGgufAlignment));
  metadata.add_text("farfield.model_hash", source.hash);
  metadata.add_count("farfield.step", source.step);
  add_gguf_model(architecture, exported.model, encoding, metadata);
  const std::string remark =
      add_gguf_tokenizer(tokenizer.get(), exported.model.vocab_size, metadata);
  if (!remark.empty()) cli::remarks() << "model: " << request.out << ": " << remark << '\n';
  if (exported.model.activation == MlpActivation::gelu)
    cli::remarks() << "model: " << request.out
                   << ": llama.cpp computes GELU by tanh, the model by erf\n";

  std::vector<GgufTensor> tensors =
      gguf_weights(architecture, std::move(exported), encoding, request.dtype, request.run);
  int64_t n_parameter = 0;
  for (const GgufTensor& tensor : tensors) n_parameter += tensor.values.numel();
  write_gguf(request.out, metadata, std::move(tensors));
  out << "model: " << request.out << " from " << request.run << " at step " << source.step
      << ": GGUF of " << architecture.name << ", "
      << fixed(static_cast<double>(n_parameter) * 1e-6, 1) << "M parameters in "
      << name(request.dtype) << ", " << encoding.text << '\n';
}

}  // namespace farfield::hub
