#include "apps/catalog/run_facts.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "apps/cli/csv.h"
#include "apps/run/checkpoint.h"
#include "apps/run/resolved_config.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_lock.h"
#include "engine/base/json.h"

namespace fs = std::filesystem;

namespace farfield::catalog {
namespace {

constexpr std::string_view kWhere = "model";

struct LastRow {
  int64_t step = 0;
  double loss = 0;
};

template <class T>
T number_in(const std::string& file, const std::vector<std::vector<std::string>>& rows,
            const std::string& column) {
  const auto& header = rows.front();
  const auto at =
      static_cast<size_t>(std::find(header.begin(), header.end(), column) - header.begin());
  const std::string text = at < rows.back().size() ? rows.back()[at] : "";
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  require<IoError>(read.ec == std::errc() && read.ptr == text.data() + text.size(), kWhere, file,
                   ": expected a number as '", column, "' in the last row, got '", text, "'");
  return value;
}

// Of metrics.csv; nothing where no step was logged, and where the file is gone, which `train`
// begins anew.
std::optional<LastRow> last_row(const fs::path& file) {
  if (!is_there(file)) return std::nullopt;
  const auto rows = cli::parse_csv(file.string(), read_file(file));
  if (rows.size() < 2) return std::nullopt;
  return LastRow{number_in<int64_t>(file.string(), rows, "step"),
                 number_in<double>(file.string(), rows, "loss")};
}

// The size of a checkpoint's weights, which state.json knows as well.
int64_t size_of_weights(const fs::path& checkpoint, const run::TrainState& state) {
  const fs::path file = run::weights_file(checkpoint, state);
  const auto files = run::read_train_state(checkpoint / "state.json").files;
  const auto recorded = files.find(file.filename().string());
  std::error_code error;
  const auto size = fs::file_size(file, error);
  require<IoError>(!error, "checkpoint", file.string(), ": cannot read: ", error.message());
  const auto bytes = static_cast<int64_t>(size);
  require<IoError>(recorded == files.end() || recorded->second.bytes == bytes, "checkpoint",
                   file.string(), ": expected ", recorded->second.bytes, " bytes, got ", bytes,
                   "; the file is damaged");
  return bytes;
}

}  // namespace

std::string name(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::stopped:
      return "stopped";
    case RunState::finished:
      return "finished";
    case RunState::damaged:
      break;
  }
  return "damaged";
}

RunFacts read_facts(const run::RunFolder& run) {
  const std::string file = (run.path() / "config.conf").string();
  // On any device: a list of a card's runs needs no card.
  const run::ResolvedConfig config = run::config_of_file(file, run.config(), "cpu");
  const fs::path checkpoint = run::find_checkpoint(run.checkpoints(), std::nullopt);
  const run::TrainState state = run::read_record(checkpoint).state;
  run::check_same_config(state, file, run.config(), /*same_device=*/false);
  const std::optional<LastRow> row = last_row(run.metrics());
  const bool is_running = FileLock::is_held(run.path() / "lock", kWhere);
  std::vector<fs::path> damaged_cells;

  RunFacts facts;
  facts.run = run.path().string();
  facts.name = config.name;
  facts.posenc = config.posenc();
  facts.train_len = config.train_len();
  facts.step = is_running && row ? std::max(state.step, row->step) : state.step;
  facts.steps = config.steps;
  facts.state = is_running                   ? RunState::running
                : state.step >= config.steps ? RunState::finished
                                             : RunState::stopped;
  facts.parameters = whole_member<int64_t>(run::read_manifest(run), "parameters");
  facts.weights_bytes = size_of_weights(checkpoint, state);
  if (row) facts.loss = row->loss;
  facts.perplexities = best_perplexities(measurements_of(run, damaged_cells));
  return facts;
}

RunFacts facts_of(const fs::path& folder) {
  try {
    return read_facts(run::RunFolder::open(folder));
  } catch (const Error& error) {
    RunFacts facts;
    facts.run = folder.string();
    facts.error = error.what();
    return facts;
  }
}

}  // namespace farfield::catalog
