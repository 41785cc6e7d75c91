// The command `merge` of sweep.

#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/merge.h"
#include "engine/base/error.h"

namespace farfield::sweep {

int merge_command(int argc, const char* const* argv, std::ostream& out) {
  std::string into;
  std::vector<std::string> from;
  cli::Options options("sweep merge",
                       "Brings results of the same sweep on other machines into a folder, new or "
                       "not. Refuses cells whose\nscale, device, text, tokens, protocol or numbers "
                       "differ; then nothing is written.");
  options.add_positional("FOLDER", into, "the sweep's folder that gets them");
  options.add_positional("FROM...", from,
                         "sweeps' folders of other machines; results/ and "
                         "sweep.json of them are enough");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!into.empty() && !from.empty(), "sweep",
                       "expected the folder of a sweep and one or more to merge into it: sweep "
                       "merge FOLDER FROM...");
  for (const std::string& one : from) {
    const Merged merged = merge(into, one);
    out << cli::printable(one) << ": " << merged.n_new << " cells new, " << merged.n_more
        << " with more measurements, " << merged.n_there << " there already\n";
  }
  return cli::kDone;
}

}  // namespace farfield::sweep
