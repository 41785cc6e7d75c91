#include "apps/compare/command.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "apps/cli/options.h"
#include "apps/cli/text_table.h"
#include "apps/compare/report.h"
#include "apps/compare/table.h"
#include "apps/eval/cells.h"
#include "apps/eval/draws.h"
#include "apps/eval/results.h"
#include "apps/run/config.h"
#include "apps/run/folder.h"
#include "apps/run/labels.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace fs = std::filesystem;

namespace farfield::compare {
namespace {

constexpr std::string_view kWhere = "eval:compare";

// A run that was measured with nothing that was asked for.
std::string own_name(const std::string& run) {
  const run::Settings config = run::RunFolder::open(run).config();
  const std::string posenc = run::value_of(config, "posenc");
  return run::encoding_label(run::value_of(config, "name"), posenc, posenc, "");
}

int say_empty(const std::vector<std::string>& runs, const CompareOptions& options,
              std::ostream& out) {
  std::vector<std::vector<std::string>> rows(1, {"encoding"});
  for (const int64_t length : options.lengths) rows.front().push_back(std::to_string(length));
  if (options.lengths.empty()) rows.front().push_back("value");
  std::set<std::string> names;
  for (const std::string& run : runs) {
    if (!names.insert(own_name(run)).second) continue;  // another seed
    rows.emplace_back(rows.front().size(), "-");
    rows.back().front() = own_name(run);
  }
  std::string asked;
  for (const std::string& protocol : options.protocols)
    asked.append(asked.empty() ? " of " : ", ").append(protocol);
  if (!options.lengths.empty()) asked += " at these lengths";
  out << cli::text_table(rows) << '[' << kWhere << "] nothing to compare: expected finished cells"
      << asked << ", got none in " << runs.size() << (runs.size() == 1 ? " run" : " runs")
      << "; measure first: eval --run " << runs.front() << '\n';
  return cli::kFailed;
}

// A table of heads is long: it is for those who ask for it.
bool is_shown(const Comparison& one, const CompareOptions& asked) {
  return !one.has_parts() || !asked.protocols.empty() || !asked.quantities.empty();
}

}  // namespace

std::vector<RunCell> run_cells(const std::string& run) {
  const run::RunFolder folder = run::RunFolder::open(run);
  const std::string trained = run::value_of(folder.config(), "posenc");
  const int64_t train_len =
      run::to_run_config((folder.path() / "config.conf").string(), folder.config())
          .train_len.value_or(0);
  const run::Settings training =
      run::without(run::identity(folder.config()), {"posenc", "seed", "device"});
  struct Draws {
    RunCell cell;
    std::vector<eval::ProtocolResult> results;
  };
  std::vector<Draws> all;
  for (eval::KeptCell& kept : eval::read_cells(folder.eval() / "cells")) {
    RunCell cell;
    cell.run = run;
    const std::string posenc = run::posenc_of(kept.key);
    const std::string baseline = run::value_of(kept.key, "baseline");
    cell.name = run::encoding_name(posenc, trained, baseline);
    cell.label =
        run::encoding_label(run::value_of(folder.config(), "name"), posenc, trained, baseline);
    cell.seed = std::stoull(run::value_of(kept.key, "seed"));
    cell.train_len = train_len;
    cell.setting = run::setting_of(folder.config(), kept.key, cell.seed);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Draws& other) {
      const eval::ProtocolResult& first = other.results.front();
      return other.cell.name == cell.name && other.cell.setting == cell.setting &&
             first.protocol == kept.result.protocol && first.parameters == kept.result.parameters &&
             first.lengths.front().length == kept.result.lengths.front().length;
    });
    if (same == all.end())
      all.push_back({std::move(cell), {std::move(kept.result)}});
    else
      same->results.push_back(std::move(kept.result));
  }
  std::vector<RunCell> cells;
  for (Draws& draws : all) {
    const std::string parameters = draws.results.front().parameters;
    draws.cell.result = eval::mean_over_draws(draws.results);
    draws.cell.result.parameters = parameters;
    cells.push_back(std::move(draws.cell));
  }
  // What was trained comes before what it was changed to.
  std::stable_sort(cells.begin(), cells.end(), [&](const RunCell& a, const RunCell& b) {
    return (a.name == trained) > (b.name == trained);
  });
  return cells;
}

int eval_compare(int argc, const char* const* argv, std::ostream& out) {
  CompareOptions asked;
  std::vector<std::string> runs;
  std::string folder = "comparison";
  cli::Options options(
      "eval compare",
      "Sets finished measurements of several runs side by side: mean and spread over "
      "seeds,\nand paired tests against a reference. Measures nothing.");
  options.add_positional("run", runs, "folders of runs that eval has measured");
  options.group("What")
      .add("protocol", asked.protocols, "NAME,...", "only these (default: all there are)")
      .add("lengths", asked.lengths, "N,...", "only these (default: all there are)")
      .add(
          "quantity", asked.quantities, "NAME,...",
          "only these: perplexity, or what a protocol calls it, \"eff\" for each head or \"eff "
          "h3\" "
          "for one (default: all there are; those of heads are shown only where this or --protocol "
          "names them, and written always)")
      .add("out", folder, "FOLDER", "where CSV, JSON and SVG go");
  options.group("Tests")
      .add("reference", asked.reference, "EXPR",
           "encoding that the others are held against (default: kerple_log where it is there, else "
           "sandwich, else the first)")
      .add("pairs", asked.pairs, "seeds|segments",
           "what a pair is: two runs of one seed, tested on the quantity itself (perplexity), or "
           "one "
           "item under two runs of one seed, tested on nll")
      .add("marks", asked.marks, "S|K",
           "of the Sandwich paper: both directions; of the KERPLE paper: only where the reference "
           "is better");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(!runs.empty(), kWhere,
                       "bad_argument: expected folders of runs, got none; see eval compare --help");
  check(asked);

  std::vector<RunCell> cells;
  std::set<fs::path> seen;  // a run that is named twice counts once
  std::vector<std::string> unmeasured;
  for (const std::string& run : runs) {
    std::error_code status;
    if (!seen.insert(fs::weakly_canonical(run, status)).second) continue;
    std::vector<RunCell> own = run_cells(run);
    if (own.empty()) unmeasured.push_back(run);
    cells.insert(cells.end(), std::make_move_iterator(own.begin()),
                 std::make_move_iterator(own.end()));
  }
  const std::vector<Comparison> all = comparisons_of(cells, asked);
  if (all.empty()) return say_empty(runs, asked, out);
  require_writable_folder(folder);
  int64_t n_tests = 0;
  for (const Comparison& one : all) {
    out << (is_shown(one, asked) ? comparison_table(one) : comparison_remark(one)) << '\n';
    n_tests += one.n_tests;
  }
  if (all.size() > 1)
    out << n_tests << " tests in all " << all.size()
        << " tables; no multiple-comparison correction\n";
  for (const std::string& run : unmeasured) out << run << ": no finished cells\n";
  std::string no_plot;
  for (const fs::path& csv : write_comparisons(folder, all, &no_plot))
    out << "written: " << csv.string() << '\n';
  if (!no_plot.empty()) out << "no plot: " << no_plot << '\n';
  return cli::kDone;
}

}  // namespace farfield::compare
