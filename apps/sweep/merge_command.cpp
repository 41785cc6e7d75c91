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
                       "Merges results of the same sweep from other machines into a new or "
                       "existing folder. If scale, device,\ntext, tokens, protocol or numbers of a "
                       "cell differ, it refuses and writes nothing.");
  options.add_positional("FOLDER", into, "folder that receives the results");
  options.add_positional(
      "FROM...", from, "sweep folders of other machines; their results/ and sweep.json are enough");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!into.empty() && !from.empty(), "sweep",
                       "expected the folder of a sweep and at least one folder to merge into it: "
                       "sweep merge FOLDER FROM...");
  for (const std::string& one : from) {
    const Merged merged = merge(into, one);
    out << cli::printable(one) << ": " << merged.n_new << " cells new, " << merged.n_more
        << " with more measurements, " << merged.n_there << " there already\n";
  }
  return cli::kDone;
}

}  // namespace farfield::sweep
