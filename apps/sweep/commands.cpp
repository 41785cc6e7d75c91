#include "apps/sweep/commands.h"

#include "apps/cli/commands.h"

namespace farfield::sweep {

int sweep_program(int argc, const char* const* argv, std::ostream& out) {
  return cli::run_command(
      "sweep",
      "Runs the experiments of the papers on length extrapolation, at the scale of your machine,\n"
      "and reports them beside the printed numbers.",
      {{"list", "every experiment with its grid, cost and findings", list_command},
       {"run", "trains and measures what experiments need; goes on where it was stopped",
        sweep_run_command},
       {"status", "cells done, open and failed, and why", status_command},
       {"merge", "brings results from other machines into a sweep's folder", merge_command},
       {"report", "Markdown, CSV and one HTML page", report_command},
       {"cell", "makes one cell of a sweep: what run and job arrays call", cell_command}},
      argc, argv, out);
}

}  // namespace farfield::sweep
