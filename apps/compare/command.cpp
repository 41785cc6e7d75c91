#include "apps/compare/command.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "apps/cli/text_table.h"
#include "apps/cli/verbose.h"
#include "apps/compare/report.h"
#include "apps/compare/table.h"
#include "apps/eval/cells.h"
#include "apps/eval/draws.h"
#include "apps/eval/results.h"
#include "apps/run/config.h"
#include "apps/run/folder.h"
#include "apps/run/labels.h"
#include "apps/run/load_run.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace fs = std::filesystem;

namespace farfield::compare {
namespace {

constexpr std::string_view kWhere = "eval:compare";

struct CompareRequest {
  std::vector<std::string> runs;
  CompareOptions options;
  std::string folder = "comparison";
  bool json = false;
};

// The name of a run without any requested measurement.
std::string own_name(const std::string& run) {
  const run::Settings config = run::RunFolder::open(run).config();
  const std::string posenc = run::value_of(config, "posenc");
  return run::encoding_label(run::value_of(config, "name"), posenc, posenc, "");
}

// Prints a table without numbers, and the reason on stderr.
int say_empty(const CompareRequest& request, std::ostream& out) {
  const std::vector<std::string>& runs = request.runs;
  const CompareOptions& options = request.options;
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
  out << (request.json ? comparisons_json({}) : cli::text_table(rows));
  std::cerr << '[' << kWhere << "] nothing to compare: expected finished cells" << asked
            << ", got none in " << runs.size() << (runs.size() == 1 ? " run" : " runs")
            << "; measure first: eval --run " << runs.front() << '\n';
  return cli::kFailed;
}

// Names requested items that no run has.
template <class T, class F>
void note_unmeasured(const std::vector<T>& asked, const std::vector<RunCell>& cells,
                     const F& is_of) {
  for (const T& one : asked)
    if (std::none_of(cells.begin(), cells.end(),
                     [&](const RunCell& cell) { return is_of(cell, one); }))
      std::cerr << one << ": measured by none of these runs\n";
}

// A table of heads is long: it is shown only on request.
bool is_shown(const Comparison& one, const CompareOptions& asked) {
  return !one.has_parts() || !asked.protocols.empty() || !asked.quantities.empty();
}

void print_tables(const std::vector<Comparison>& all, const CompareOptions& asked,
                  std::ostream& out) {
  int64_t n_tests = 0;
  for (const Comparison& one : all) {
    out << (is_shown(one, asked) ? comparison_table(one, cli::is_verbose())
                                 : comparison_remark(one))
        << '\n';
    n_tests += one.n_tests;
  }
  if (all.size() > 1)
    out << n_tests << " tests in all " << all.size()
        << " tables; no multiple-comparison correction\n";
}

// False for --help or --version.
bool read_request(int argc, const char* const* argv, CompareRequest& request, std::ostream& out) {
  CompareOptions& asked = request.options;
  cli::Options options(
      "eval compare",
      "Sets finished measurements of several runs side by side: mean and spread over "
      "seeds,\nand paired tests against a reference. Measures nothing.");
  options.add_positional_paths("RUN", request.runs, "folders of runs that eval has measured");
  options.group("What")
      .add("protocol", asked.protocols, "NAME,...", "only these (default: all there are)")
      .add("protocol-hash", asked.protocol_hashes, "HASH,...",
           "only measurements with these protocol hashes, or beginnings of them; their files have "
           "them in their names (default: of each protocol the newest measurement)")
      .add("lengths", asked.lengths, "N,...", "only these (default: all there are)")
      .add("quantity", asked.quantities, "NAME,...",
           "only these: perplexity, or what a protocol calls it, \"eff\" for each head or "
           "\"eff h3\" for one (default: all; quantities of heads are shown only if this or "
           "--protocol names them, and always written)")
      .add("json", request.json, "print the tables as one JSON object")
      .add("out", request.folder, "FOLDER", "where CSV, JSON and SVG go");
  options.group("Tests")
      .add("reference", asked.reference, "EXPR",
           "encoding that the others are held against (default: kerple_log where it is there, else "
           "sandwich, else the first)")
      .add("pairs", asked.pairs, "seeds|segments",
           "what a pair is: two runs of one seed, tested on the quantity itself (perplexity), or "
           "one "
           "item under two runs of one seed, tested on nll")
      .add("marks", asked.marks, "FORM",
           "rows: † a row that is better than the reference, * one that is worse; paper: as the "
           "Sandwich paper, † where the reference is better, * where it is worse; kerple-paper: † "
           "alone");
  if (!options.parse(argc, argv, out)) return false;
  require<ConfigError>(!request.runs.empty(), kWhere,
                       "bad_argument: expected folders of runs, got none; see eval compare --help");
  check(asked);
  return true;
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
    cell.time = kept.time;
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
    else {
      same->cell.time = std::max(same->cell.time, kept.time);
      same->results.push_back(std::move(kept.result));
    }
  }
  std::vector<RunCell> cells;
  for (Draws& draws : all) {
    const std::string parameters = draws.results.front().parameters;
    draws.cell.result = eval::mean_over_draws(draws.results);
    draws.cell.result.parameters = parameters;
    cells.push_back(std::move(draws.cell));
  }
  // Trained expressions come before changed expressions.
  std::stable_sort(cells.begin(), cells.end(), [&](const RunCell& a, const RunCell& b) {
    return (a.name == trained) > (b.name == trained);
  });
  return cells;
}

int eval_compare(int argc, const char* const* argv, std::ostream& out) {
  CompareRequest request;
  if (!read_request(argc, argv, request, out)) return cli::kDone;
  const CompareOptions& asked = request.options;
  std::vector<RunCell> cells;
  std::set<fs::path> seen;  // a run that is named twice counts once
  for (const std::string& run : request.runs) {
    std::error_code status;
    if (!seen.insert(fs::weakly_canonical(run, status)).second) continue;
    std::vector<RunCell> own = run_cells(run);
    const std::string unfinished = run::unfinished_text(run::RunFolder::open(run));
    if (!unfinished.empty())
      std::cerr << cli::printable(run) << ": unfinished: " << unfinished << '\n';
    if (own.empty()) std::cerr << cli::printable(run) << ": no finished cells\n";
    cells.insert(cells.end(), std::make_move_iterator(own.begin()),
                 std::make_move_iterator(own.end()));
  }
  const std::vector<Comparison> all = comparisons_of(cells, asked);
  if (all.empty()) return say_empty(request, out);
  note_unmeasured(asked.protocols, cells, [](const RunCell& cell, const std::string& protocol) {
    return cell.result.protocol == protocol;
  });
  note_unmeasured(asked.lengths, cells, [](const RunCell& cell, int64_t length) {
    return cell.result.lengths.front().length == length;
  });
  require_writable_folder(request.folder);
  if (request.json)
    out << comparisons_json(all);
  else
    print_tables(all, asked, out);
  std::string no_plot;
  for (const fs::path& csv :
       write_comparisons(request.folder, all, !asked.protocol_hashes.empty(), &no_plot))
    cli::remarks() << "written: " << csv.string() << '\n';
  if (!no_plot.empty()) std::cerr << "no plot: " << no_plot << '\n';
  return cli::kDone;
}

}  // namespace farfield::compare
