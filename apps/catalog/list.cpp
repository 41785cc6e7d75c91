#include <iostream>
#include <sstream>

#include "apps/catalog/columns.h"
#include "apps/catalog/commands.h"
#include "apps/catalog/facts_json.h"
#include "apps/catalog/find_runs.h"
#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/text_table.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::catalog {
namespace {

struct ListRequest {
  std::vector<std::string> folders;
  std::string sort = "run";
  std::vector<int64_t> lengths;
  bool is_reversed = false, json = false;
};

bool read_list_request(int argc, const char* const* argv, ListRequest& request, std::ostream& out) {
  cli::Options options(
      "model list",
      "Lists the runs below some folders: a run counts as a folder of its own.\n"
      "ppl@N is the lowest perplexity at N tokens that eval measured with the encoding of the "
      "training.");
  options.add_positional_paths("FOLDER", request.folders, "folders of runs, or runs");
  options.group("What to show")
      .add("sort", request.sort, "COLUMN",
           "the column to sort by, as it is headed, ppl@1024 say; runs that lack it come last")
      .add("reverse", request.is_reversed, "the largest first")
      .add("lengths", request.lengths, "N,...",
           "perplexities of the table at these lengths alone (default: at all there are)")
      .add("json", request.json, "print an array with an object for each run");
  if (!options.parse(argc, argv, out)) return false;
  require<ConfigError>(!request.folders.empty(), "model",
                       "expected folders of runs, got none; model list runs");
  return true;
}

std::string without_blanks_at_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string list_table(const std::vector<RunFacts>& runs, const std::vector<int64_t>& lengths) {
  std::vector<Column> columns = fixed_columns();
  for (const int64_t length : lengths) columns.push_back(perplexity_column(length));
  std::vector<std::vector<std::string>> rows(1);
  for (const Column& column : columns) rows.front().push_back(column.name);
  for (const RunFacts& run : runs) {
    rows.emplace_back();
    for (const Column& column : columns) {
      const bool is_known = run.state != RunState::damaged || rows.back().size() < 2;
      rows.back().push_back(is_known ? column.text(run) : "");
    }
  }
  std::istringstream table(cli::text_table(rows));
  std::string text, line;
  std::getline(table, line);
  text = line + "\n";
  for (const RunFacts& run : runs) {
    std::getline(table, line);
    text += without_blanks_at_end(line);
    text += run.error.empty() ? "\n" : concat("   ", cli::printable(run.error), '\n');
  }
  return text;
}

int model_list(int argc, const char* const* argv, std::ostream& out) {
  ListRequest request;
  if (!read_list_request(argc, argv, request, out)) return cli::kDone;
  const Column by = column_named(request.sort);
  const FoundRuns found = find_runs(request.folders);
  for (const std::string& line : found.unreadable)
    std::cerr << "not looked into: " << cli::printable(line) << '\n';
  std::vector<RunFacts> runs;
  for (const auto& folder : found.runs) runs.push_back(facts_of(folder));
  sort_runs(runs, by, request.is_reversed);
  if (runs.empty())
    std::cerr << "no runs below " << cli::printable(joined(request.folders)) << '\n';
  if (request.json)
    out << list_json(runs);
  else if (!runs.empty())
    out << list_table(runs, request.lengths.empty() ? lengths_of(runs) : request.lengths);
  return cli::kDone;
}

}  // namespace farfield::catalog
