// The command `merge` of sweep.

#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/merge.h"
#include "engine/base/error.h"

namespace farfield::sweep {

int merge_command(int argc, const char* const* argv, std::ostream& out) {
  std::string into;
  std::vector<std::string> from;
  bool json = false;
  cli::Options options("sweep merge",
                       "Merges results of the same sweep from other machines into a new or "
                       "existing folder. If scale, device,\ntext, tokens, protocol or numbers of a "
                       "cell differ, it refuses and writes nothing.");
  options.add_positional("FOLDER", into, "folder that receives the results");
  options.add_positional(
      "FROM...", from, "sweep folders of other machines; their results/ and sweep.json are enough");
  options.group("Output");
  add_json_option(options, json);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!into.empty() && !from.empty(), "sweep",
                       "expected the folder of a sweep and at least one folder to merge into it: "
                       "sweep merge FOLDER FROM...");
  cli::Printout page(out, "sweep merge", json);
  cli::Table table = {"folders",
                      {"folder", "new cells", "with more measurements", "there already"}};
  for (const std::string& one : from) {
    const Merged merged = merge(into, one);
    table.rows.push_back({one, merged.n_new, merged.n_more, merged.n_there});
    page.text() << cli::printable(one) << ": " << merged.n_new << " cells new, " << merged.n_more
                << " with more measurements, " << merged.n_there << " there already\n";
  }
  page.add_for_programs(table);
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::sweep
