#include "apps/sweep/commands.h"

#include "apps/cli/commands.h"

namespace farfield::sweep {

int sweep_program(int argc, const char* const* argv, std::ostream& out) {
  return cli::run_command(
      "sweep",
      "Runs the experiments of the papers on length extrapolation, at the scale of your machine,\n"
      "and reports them beside the printed numbers.",
      {{"list", "lists every experiment with its grid, cost and findings", list_command},
       {"run", "trains and measures the models of experiments; continues after a stop",
        sweep_run_command},
       {"search", "searches formulas of the distance for encodings; continues after a stop",
        search_command},
       {"status", "counts cells done, open and failed, and shows why cells failed", status_command},
       {"merge", "merges results from other machines into a sweep's folder", merge_command},
       {"report", "writes a report: Markdown, CSV and one HTML page", report_command},
       {"cell", "makes one cell of a sweep; called by `sweep run` and by job arrays",
        cell_command}},
      argc, argv, out);
}

}  // namespace farfield::sweep
