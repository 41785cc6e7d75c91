#include "apps/sweep/cell_run.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "apps/cli/csv.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/cli/version.h"
#include "apps/eval/batch_memory.h"
#include "apps/eval/measure.h"
#include "apps/run/load_run.h"
#include "apps/run/machine.h"
#include "apps/run/source_run.h"
#include "apps/run/training_data.h"
#include "apps/sweep/measurement_options.h"
#include "apps/sweep/results.h"
#include "apps/train/training_run.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_lock.h"
#include "engine/base/interrupt.h"
#include "engine/device_info.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

data::Corpus corpus_of(const run::ResolvedConfig& config, const Cell& cell) {
  const run::TrainingData data = run::open_data(config);
  require<IoError>(data.hash() == cell.corpus_hash, kWhere, config.data.front().path,
                   ": expected the corpus that the sweep was planned with (hash ", cell.corpus_hash,
                   "), got another (hash ", data.hash(), ')');
  return data.corpora().front();
}

// `events`: the folder of its event files; empty: none.
cli::ExitCode train(const run::ResolvedConfig& config, const fs::path& path, const fs::path& events,
                    cli::Progress& progress) {
  std::error_code status;
  train::TrainingRun run = fs::exists(path, status)
                               ? train::TrainingRun::resume(config, path.string())
                               : train::TrainingRun::start(config, path.string());
  if (run.trainer().is_done()) return cli::kDone;
  if (!events.empty()) run.write_events(events);
  return run.go(progress);
}

run::ResolvedConfig config_of(const SweepFolder& folder, const Cell& cell) {
  return run::config_of_file(folder.cell(cell.hash()).string(), cell.training);
}

// The lock of a cell, once no other process makes it; empty when that is stopped.
std::optional<FileLock> wait_for(const SweepFolder& folder, const Cell& cell) {
  for (;;) {
    std::optional<FileLock> lock =
        FileLock::take(folder.lock(cell.hash()), kWhere, std::chrono::seconds(1));
    if (lock || cli::stop_requested()) return lock;
  }
}

// Trains the model that a cell starts from, unless its weights are there, and gives the cell's
// configuration with them. Empty when that is stopped.
std::optional<run::ResolvedConfig> config_from_base(const SweepFolder& folder, const Cell& cell,
                                                    bool has_events, cli::Progress& progress) {
  const fs::path path = folder.runs() / cell.base->hash();
  const fs::path events = has_events ? folder.events(*cell.base) : fs::path();
  const std::optional<FileLock> lock = wait_for(folder, *cell.base);
  if (!lock || train(config_of(folder, *cell.base), path, events, progress) == cli::kStopped)
    return std::nullopt;
  run::RunConfig request = run::to_run_config(folder.cell(cell.hash()).string(), cell.training);
  request.init_from = path.string();
  request.init_step.reset();
  request.init_hash.reset();
  run::complete(request, run::open_source(path.string(), {}, {}));
  return run::resolve(request);
}

int64_t count(const std::vector<Parameter>& parameters) {
  int64_t n = 0;
  for (const Parameter& p : parameters) n += p.value.numel();
  return n;
}

void add_model_facts(CellResult& result, const run::LoadedRun& run) {
  result.facts["parameters"] = static_cast<double>(count(run.model.parameters()));
  result.facts["posenc_parameters"] = static_cast<double>(count(run.model.encoding().parameters()));
}

// The last row of metrics.csv.
void add_training_facts(CellResult& result, const run::LoadedRun& run) {
  const fs::path file = run.folder.metrics();
  const auto rows = cli::parse_csv(file.string(), read_file(file));
  if (rows.size() < 2) return;
  const auto number = [&](const std::string& column) {
    for (size_t i = 0; i < rows.front().size() && i < rows.back().size(); ++i)
      if (rows.front()[i] == column) return std::strtod(rows.back()[i].c_str(), nullptr);
    return std::nan("");
  };
  result.facts["train_loss"] = number("loss");
  result.facts["train_seconds"] = number("time_s");
  result.facts["step_ms"] = 1000 * number("time_s") / static_cast<double>(run.state.step);
}

void add_words(CellResult& result, const run::ResolvedConfig& config) {
  for (const auto& [name, value] : cli::build_facts())
    if (name == "commit" || name == "version") result.words[name] = value;
  result.words["processor"] = run::processor_name();
  result.words["device"] = device_info(config.device).name;
  result.words["precision"] = std::string(name(config.dtype));
}

// The trained model, loaded anew where a measurement wants another encoding or mask than the one
// before.
class LoadedModel {
 public:
  explicit LoadedModel(fs::path path) : path_(std::move(path)) {}
  /// The weights that a run starts from, on its device.
  explicit LoadedModel(const run::ResolvedConfig& config)
      : path_(config.init->from),
        step_(config.init->step),
        hash_(config.init->hash),
        device_(run::value_of(config.settings, "device")) {}
  const run::LoadedRun& under(run::LoadOptions options) {
    options.step = step_;
    options.device = device_;
    if (!run_ || options.posenc != options_.posenc || options.window != options_.window ||
        options.drop_learned != options_.drop_learned) {
      run_.reset();  // never two at a time
      run_.emplace(run::load_run(path_.string(), options));
      options_ = options;
      require<IoError>(!hash_ || run_->model_hash == *hash_, kWhere, path_.string(),
                       ": expected weights of hash ", hash_.value_or(""), " at step ",
                       step_.value_or(0), ", got ", run_->model_hash);
    }
    return *run_;
  }

 private:
  fs::path path_;
  std::optional<int64_t> step_;  // empty: the newest
  std::optional<std::string> hash_, device_;
  run::LoadOptions options_;
  std::optional<run::LoadedRun> run_;
};

// `keep`: finished parts, in the run's folder.
eval::ProtocolResult measure(LoadedModel& model, const data::Corpus& corpus, const Measurement& m,
                             int64_t workers, bool keep) {
  eval::EvalOptions eval = options_of(m);
  const eval::Baseline baseline = eval::parse_baseline(eval.baselines.front());
  run::LoadOptions load;
  if (!m.posenc.empty()) load.posenc = m.posenc;
  load.drop_learned = m.drop_learned;
  load.window = baseline.kind == eval::Baseline::Kind::masked ? baseline.window : 0;
  const run::LoadedRun& run = model.under(load);
  if (eval.common.batch_tokens == 0)
    eval.common.batch_tokens =
        eval::choose_batch_tokens(run.model.config(), run.model.compute_dtype(),
                                  run::available_bytes(run.config.device) / workers);
  const Interruptible interruptible(cli::stop_requested);
  return eval::measure(run, corpus, split_of(m), m.protocol, eval,
                       {.baseline = baseline,
                        .keep = keep,
                        .in_file_order = run::value_of(m.options, "document-order") == "file",
                        .watch = [](int64_t) { throw_if(cli::stop_requested); }})
      .result;
}

// The finished part of a cell. A damaged file is put aside, and the cell made anew.
CellResult earlier_result(const fs::path& file, std::ostream& out) {
  std::error_code status;
  if (!fs::exists(file, status)) return {};
  try {
    return read_result(file);
  } catch (const IoError& error) {
    fs::rename(file, file.string() + ".damaged");
    out << error.what() << "; it is now " << file.filename().string() << ".damaged" << std::endl;
    return {};
  }
}

}  // namespace

cli::ExitCode run_cell(const SweepFolder& folder, const Cell& cell, const CellRunOptions& options,
                       std::ostream& out) {
  const fs::path path = folder.runs() / cell.hash();
  const fs::path file = result_path(folder.results(), cell.hash());
  // A process that only checks whether a cell is being made holds its lock for a moment: wait a
  // little.
  const std::optional<FileLock> lock =
      FileLock::take(folder.lock(cell.hash()), kWhere, std::chrono::seconds(1));
  require<ConfigError>(lock.has_value(), kWhere, "another process makes cell ", cell.hash(),
                       "; wait for it or stop it");
  const auto begin = std::chrono::steady_clock::now();
  CellResult result = earlier_result(file, out);
  result.hash = cell.hash();
  result.key = cell.key();
  result.corpus = cell.corpus;
  if (result.covers(cell)) return cli::kDone;
  const double earlier_seconds = result.facts["seconds"];
  const auto keep = [&] {
    result.facts["seconds"] = earlier_seconds + seconds_since(begin);
    write_result(folder.results(), result);
  };

  run::ResolvedConfig config = config_of(folder, cell);
  // The driver's signal may come in addition to the batch system's signal to all processes of a
  // job.
  const cli::StopSignals signals("sweep: this cell stops after its step", std::chrono::seconds(10),
                                 false);
  cli::Progress progress(out, false);
  try {
    const data::Corpus corpus = corpus_of(config, cell);
    out << "cell " << cell.hash() << ": " << cell.label() << std::endl;
    if (cell.base) {
      std::optional<run::ResolvedConfig> based =
          config_from_base(folder, cell, options.tensorboard, progress);
      if (!based) return cli::kStopped;
      config = *std::move(based);
    }
    const fs::path events = options.tensorboard ? folder.events(cell) : fs::path();
    if (!cell.is_given && train(config, path, events, progress) == cli::kStopped)
      return cli::kStopped;
    LoadedModel model = cell.is_given ? LoadedModel(config) : LoadedModel(path);
    if (result.facts.count("parameters") == 0) {
      add_model_facts(result, model.under({}));
      if (!cell.is_given) add_training_facts(result, model.under({}));
      add_words(result, config);
      result.facts["peak_mib"] = static_cast<double>(run::peak_resident_bytes()) / (1 << 20);
      keep();
    }
    for (const Measurement& m : cell.measurements) {
      if (result.measured.count(m.id()) != 0) continue;
      const std::string lengths = run::value_of(m.options, "lengths");
      out << "measuring " << m.protocol << (lengths.empty() ? "" : " at ") << lengths
          << (m.posenc.empty() ? "" : " under ") << m.posenc << std::endl;
      const auto measuring = std::chrono::steady_clock::now();
      result.measured[m.id()] = measure(model, corpus, m, options.workers, !cell.is_given);
      result.families[m.id()] = m.family();
      keep();
      out << "  took " << std::round(10 * seconds_since(measuring)) / 10 << " s" << std::endl;
    }
  } catch (const Interrupted&) {
    return cli::kStopped;
  }
  std::error_code status;
  if (!options.keep_weights && !is_needed(folder, cell.hash())) fs::remove_all(path, status);
  if (cell.base && options.drop_base && !options.keep_weights)
    drop_weights(folder, cell.base->hash());
  return cli::kDone;
}

}  // namespace farfield::sweep
