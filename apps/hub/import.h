#pragma once

#include <ostream>
#include <string>

namespace farfield::hub {

struct ImportRequest {
  std::string folder, out;
  std::string tokenizer;  ///< empty: the folder's
  std::string name;       ///< of the run; empty: the folder's
};

/// Makes a run of a Hugging Face folder, which `eval`, `inspect`, `generate` and `train
/// --init-from` take like a run of `train`. The run is complete or absent. Memory is that of the
/// weights in float32. Throws    IoError, naming the file and the key or tensor, for what is
/// damaged or not implemented;
///           ConfigError if the run is there already
void import_model(const ImportRequest& request, std::ostream& out);

/// `model import FOLDER --out RUN`: its command line. Returns the exit code.
int import_command(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::hub
