// The command `report` of sweep.

#include <filesystem>
#include <iostream>
#include <system_error>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/progress.h"
#include "apps/sweep/commands.h"
#include "apps/sweep/findings.h"
#include "engine/base/error.h"

namespace fs = std::filesystem;

namespace farfield::sweep {

int report_command(int argc, const char* const* argv, std::ostream& out) {
  std::string path, to;
  std::vector<std::string> more;
  bool json = false;
  cli::Options options("sweep report",
                       "Writes a report of the results so far beside the papers' numbers: Markdown "
                       "with figures, CSV, and\none HTML page.");
  options.add_positional("FOLDER", path, "the sweep's folder");
  options.group("Report")
      .add_paths("results", more, "FOLDER",
                 "another folder of results, from another machine; may be repeated")
      .add("out", to, "FOLDER", "folder of the report (default: report/ in the sweep's folder)");
  add_json_option(options, json);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!path.empty(), "sweep", "expected the folder of a sweep, got none");
  const SweepFolder folder(path);
  std::vector<fs::path> folders = {folder.results()};
  for (const std::string& one : more) {
    std::error_code status;
    require<IoError>(fs::is_directory(one, status), "sweep", one,
                     ": expected a folder of results, got none");
    folders.emplace_back(one);
  }
  std::vector<fs::path> damaged;
  const Results results = Results::read(folders, &damaged);
  for (const fs::path& file : damaged)
    std::cerr << "warning: " << cli::printable(file.string())
              << ": not the results of a cell; left out; remove it and run the sweep again\n";
  const fs::path target = to.empty() ? folder.report() : fs::path(to);
  std::string why;
  const Report report = write_report(target, folder, results, why);
  if (!why.empty()) std::cerr << "no figures: " << cli::printable(why) << '\n';
  cli::Printout page(out, "sweep report", json);
  cli::Table findings = {"findings", {"claim", "experiment", "verdict", "as printed", "statement"}};
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements) {
      findings.rows.push_back({j.claim, section.id, to_word(j.evidence.verdict()),
                               to_word(printed_answer(j)), j.statement});
      if (!json) out << verdict_text(j) << "  " << j.claim << ": " << j.statement << '\n';
    }
  page.add_for_programs(findings);
  page.finish();
  out << std::flush;
  cli::remarks() << "written: " << cli::printable((target / "report.md").string()) << ", "
                 << cli::printable((target / "index.html").string())
                 << ", report.csv, claims.csv\n";
  return cli::kDone;
}

}  // namespace farfield::sweep
