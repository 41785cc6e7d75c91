#include "apps/catalog/commands.h"
#include "apps/catalog/facts_json.h"
#include "apps/catalog/run_details.h"
#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "engine/base/error.h"

namespace farfield::catalog {

int model_show(int argc, const char* const* argv, std::ostream& out) {
  std::string path;
  bool json = false;
  cli::Options options("model show",
                       "Shows a run: its state, configuration, where its weights come from, data, "
                       "tokenizer, checkpoints, measurements and machine. --verbose adds hashes.");
  options.add_positional("RUN", path, "folder of a training run");
  options.group("Output").add("json", json, "print one object");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!path.empty(), "model",
                       "expected the folder of a run, got none; model show RUN");
  const RunDetails details = details_of(path);
  out << (json ? details_json(details) : cli::printable(details_text(details)));
  return cli::kDone;
}

}  // namespace farfield::catalog
