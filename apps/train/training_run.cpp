#include "apps/train/training_run.h"

#include <cmath>
#include <utility>

#include "apps/cli/shell_word.h"
#include "apps/cli/signals.h"
#include "apps/run/corpus.h"
#include "apps/run/machine.h"
#include "apps/run/parameter_bounds.h"
#include "apps/run/source_run.h"
#include "apps/run/together.h"
#include "apps/train/manifest.h"
#include "apps/train/step_time.h"
#include "apps/train/training_memory.h"
#include "apps/train/tuned_products.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/interrupt.h"
#include "engine/base/text.h"
#include "engine/base/write_target.h"

namespace farfield::train {
namespace {

constexpr std::string_view kWhere = "train";
constexpr int64_t kMaxBadInARow = 10;  // more means that the run itself is ill, not a batch

struct Opened {
  run::TrainingData data;
  std::unique_ptr<DataCheck> check;
  std::unique_ptr<Trainer> trainer;
};

// A warning if --valid-windows asks for more windows than exist; else empty.
std::string valid_windows_warning(const Trainer& trainer) {
  const run::ResolvedConfig& config = trainer.config();
  const int64_t n = trainer.n_valid_window();
  // The default is for splits of any size.
  const bool is_asked = config.valid_windows != run::RunConfig{}.valid_windows;
  if (!is_asked || config.valid_every == 0 || n == 0 || n >= config.valid_windows) return "";
  return concat("--valid-windows ", config.valid_windows, ": the valid split has ", n,
                " sequences of ", config.train_len(), " tokens; the valid loss is of them");
}

Opened open(const run::ResolvedConfig& config, const TrainingRun::Warn& warn, const Group& group,
            const data::TokenizerPtr& model_tokenizer = nullptr,
            const Trainer::Initialize& initialize = {}) {
  require<ConfigError>(!config.data.empty() || !config.task.empty(), kWhere,
                       "expected --data PATH, a corpus made by `prepare`, or --task NAME");
  const Interruptible interruptible(cli::stop_is_due);  // a large model takes minutes to initialise
  run::TrainingData data = run::open_data(config, model_tokenizer);
  for (const data::Corpus& corpus : data.corpora())
    for (const std::string& note : corpus.notes())
      if (warn) warn(note);
  const std::string warning =
      memory_warning(config, run::vocab_size_of(config, data), run::available_bytes(config.device));
  if (warn && !warning.empty()) warn(warning);
  auto check = std::make_unique<DataCheck>(data);
  auto trainer = std::make_unique<Trainer>(config, data, group, initialize);
  const std::string fewer = valid_windows_warning(*trainer);
  if (warn && !fewer.empty()) warn(fewer);
  if (check->is_short()) check->wait();
  group.communicator().require_equal("training data", data.hash());  // each reads its own files
  return {std::move(data), std::move(check), std::move(trainer)};
}

run::KeptCheckpoints kept_by(const run::ResolvedConfig& config) {
  return {.last = config.keep, .every = config.keep_every};
}

std::string rate(double per_second) {
  return per_second < 10'000 ? fixed(per_second, 0) : fixed(per_second / 1000, 1) + "k";
}

}  // namespace

TrainingRun::TrainingRun(run::RunFolder folder, std::unique_ptr<DataCheck> check,
                         std::unique_ptr<Trainer> trainer, const run::FileRecord& metrics)
    : folder_(std::move(folder)), check_(std::move(check)), trainer_(std::move(trainer)) {
  if (is_first()) {
    metrics_.emplace(folder_.metrics(), trainer_->state().step, metrics);
    saver_ = std::make_unique<run::CheckpointSaver>(
        folder_.checkpoints(), kept_by(trainer_->config()), trainer_->config().saves_beside);
  }
  const run::TrainState state = trainer_->state();
  logged_tokens_ = state.tokens;
  logged_time_s_ = state.time_s;
  trainer_->give_up_when(cli::stop_is_due);
}

TrainingRun TrainingRun::start(const run::ResolvedConfig& config, const std::string& out,
                               const Warn& warn, const Group& group) {
  std::optional<run::SourceRun> source;
  std::vector<run::Ancestor> lineage;
  std::vector<std::string> remarks;
  data::TokenizerPtr tokenizer;
  Trainer::Initialize initialize;
  if (config.init) {
    source.emplace(run::open_source(*config.init));
    run::require_same_shape(config, *source);
    lineage = run::lineage_with(*source, out);
    tokenizer = run::tokenizer_of(source->folder);
    initialize = [&](Transformer& model) {
      const run::Unmatched unmatched = run::take_weights(*source, *config.init, model);
      remarks = run::remarks_on(unmatched);
      if (!unmatched.mapped.empty())
        remarks.push_back(concat("trained values mapped: ", unmatched.mapped));
    };
  }
  Opened opened = open(config, warn, group, tokenizer, initialize);
  std::unique_ptr<Trainer> trainer = std::move(opened.trainer);
  run::TrainState state = trainer->state();
  state.metrics = MetricsFile::empty_record();
  if (run::in_any(group.communicator(), cli::stop_is_due()))
    fail<Interrupted>(kWhere, "stopped on request before the first step");
  const run::NamedTensors weights = trainer->model_tensors(),
                          moments = trainer->optimizer_tensors();
  const TunedProducts products = choose_products(*trainer);
  const run::RunFolder::Files files = {
      config.settings,
      run_manifest(config, opened.data, {trainer->n_parameter(), trainer->n_trained()},
                   products.file, out, lineage),
      MetricsFile::header(), opened.data.tokenizer().file(), products.file};
  std::optional<run::RunFolder> folder;
  run::in_first(group.communicator(), [&] {
    folder = run::RunFolder::create(out, files, [&](const auto& checkpoints) {
      run::save_checkpoint(checkpoints, state, weights, moments, kept_by(config));
    });
  });
  if (!folder) folder = run::RunFolder::open(out);
  TrainingRun run(std::move(*folder), std::move(opened.check), std::move(trainer), state.metrics);
  run.saved_step_ = 0;
  run.is_new_ = true;
  run.told_at_start_ = std::move(remarks);
  run.warn_ = warn;
  run.products_said_ = products.said;
  return run;
}

TrainingRun TrainingRun::resume(const run::ResolvedConfig& config, const std::string& path,
                                const Warn& warn, const Group& group) {
  std::optional<run::RunFolder> opened_folder;
  run::in_first(group.communicator(),
                [&] { opened_folder = run::RunFolder::open_for_training(path); });
  if (!opened_folder) opened_folder = run::RunFolder::open(path);
  run::RunFolder& folder = *opened_folder;
  const run::Settings mine = run::identity(config.settings),
                      theirs = run::identity(folder.config());
  const std::string key = run::first_difference(theirs, mine);
  // A setting that the file has lost is a matter of the file: check_same_config() below.
  const std::string was = run::value_of(theirs, key), is = run::value_of(mine, key);
  require<ConfigError>(was.empty(), kWhere, path, ": --", key, ": expected ", was,
                       ", as the run was started, got ", is.empty() ? "nothing" : is,
                       "; leave it out, since --resume goes on with the same training. Another one "
                       "begins anew: train --config ",
                       cli::shell_word((folder.path() / "config.conf").string()), " --", key, ' ',
                       is.empty() ? "VALUE" : cli::shell_word(is), " --out FOLDER");
  const run::Checkpoint checkpoint = run::load_newest_checkpoint(folder.checkpoints());
  run::check_same_config(checkpoint.state, folder.path() / "config.conf", folder.config(),
                         /*same_device=*/true);
  group.communicator().require_equal(
      "checkpoint", concat("step ", checkpoint.state.step, ", weights ", checkpoint.model_hash));
  Trainer::Initialize initialize;  // the checkpoint holds all weights but frozen ones
  if (config.model.adapters)
    initialize = [&](Transformer& model) {
      run::take_weights(run::find_source(folder, config), *config.init, model);
    };
  Opened opened = open(config, warn, group, run::tokenizer_of(folder), initialize);
  std::unique_ptr<Trainer> trainer = std::move(opened.trainer);
  trainer->restore(checkpoint);
  run::check_parameter_bounds(
      trainer->model().encoding(),
      run::weights_file(run::find_checkpoint(folder.checkpoints(), {}), checkpoint.state).string());
  TunedProducts products;
  std::string manifest;
  if (!trainer->is_done()) {  // a finished run stays as it is
    products = choose_products(*trainer, folder);
    if (group.is_first())
      manifest = manifest_resumed(folder.manifest().string(), read_file(folder.manifest()),
                                  checkpoint.state.step, config, products.file, path);
  }
  if (group.is_first()) folder.rename(config.name);
  TrainingRun run(std::move(folder), std::move(opened.check), std::move(trainer),
                  checkpoint.state.metrics);
  // Once nothing can be refused any more; first what products.json is compared with.
  if (!manifest.empty()) write_file_atomic(run.folder().manifest(), manifest);
  if (group.is_first() && !products.said.empty())
    write_file_atomic(run.folder().products(), products.file);
  run.products_said_ = products.said;
  run.saved_step_ = checkpoint.state.step;
  run.warn_ = warn;
  return run;
}

cli::ExitCode TrainingRun::go(cli::Progress& progress, std::optional<int64_t> stop_after) {
  try {
    return make_steps(progress, stop_after);
  } catch (...) {
    if (is_first() && is_unused()) folder_.remove();
    throw;
  }
}

cli::ExitCode TrainingRun::make_steps(cli::Progress& progress, std::optional<int64_t> stop_after) {
  const run::ResolvedConfig& config = trainer_->config();
  if (is_new_ && trainer_->is_done()) return cli::kDone;  // of no steps
  if (config.steps == 0) {
    progress.say(concat("this run has no steps, only weights. To train it: train --init-from ",
                        folder_.path().string(), " --steps N --out FOLDER"));
    return cli::kDone;
  }
  if (trainer_->is_done()) {  // resumed after its end
    progress.say(concat("this run is finished: step ", config.steps, " of ", config.steps,
                        ", nothing left to do. Its learning rate has come down to its end, so more "
                        "steps are another run: train --config ",
                        (folder_.path() / "config.conf").string(),
                        " --steps N --out FOLDER. To measure this one: eval --run ",
                        folder_.path().string()));
    return cli::kDone;
  }
  if (metrics_ && metrics_->is_new())
    warn(concat("[train] ", folder_.metrics().string(), " was gone; its rows begin anew"),
         progress);
  for (const std::string& remark : std::exchange(told_at_start_, {})) progress.say(remark);
  if (!products_said_.empty()) progress.say(std::exchange(products_said_, {}));
  if (config.device.kind == Device::Kind::cpu && is_first()) {
    const std::string time =
        long_step_text(trainer_->model().config(), shape_of(config),
                       config.steps - trainer_->state().step, trainer_->group().size());
    if (!time.empty()) progress.say(time);
  }
  while (!trainer_->is_done()) {
    const int64_t done = trainer_->state().step;
    const bool is_requested = run::in_any(processes(), cli::stop_requested());
    if (is_requested || (stop_after && done >= *stop_after)) {
      save_and_wait();
      progress.say(concat(is_requested ? "stopped on request" : "stopped", " after step ", done,
                          " of ", config.steps, "; continue with --resume ",
                          folder_.path().string()));
      return cli::kStopped;
    }
    if (trainer_->is_next_left_out()) {
      trainer_->skip_step();
    } else {
      StepResult step;
      try {
        step = trainer_->step();
      } catch (const Interrupted&) {
        progress.say(concat("step ", done + 1, " was given up; --resume repeats it"));
        continue;  // to where a stop is seen to
      }
      if (!step.problem.empty()) {
        handle(step, progress);
        continue;
      }
      check_->report();
      if (saver_) or_say_how_to_go_on([&] { saver_->report(); });
      good_step_ = step.step;
      say_how(progress);
      log(step, trainer_->is_done(), progress);
    }
    const int64_t now = trainer_->state().step;
    if (config.checkpoint_every > 0 && now % config.checkpoint_every == 0) save();
  }
  check_->wait();  // a run that is finished has read sound data
  save_and_wait();
  return cli::kDone;
}

void TrainingRun::log(const StepResult& step, bool is_last, cli::Progress& progress) {
  const run::ResolvedConfig& config = trainer_->config();
  const bool measure = config.valid_every > 0 && (step.step % config.valid_every == 0 || is_last);
  const bool keep = step.step % config.log_every == 0 || measure || is_last;
  const run::TrainState state = trainer_->state();
  const double seconds = state.time_s - logged_time_s_;
  const double speed =
      seconds > 0 ? static_cast<double>(state.tokens - logged_tokens_) / seconds : 0;
  std::optional<double> valid;
  try {
    if (measure) valid = trainer_->valid_loss();
  } catch (const Interrupted&) {
    progress.say(concat("valid_loss of step ", step.step, " was given up, and stays empty"));
  }
  std::string text =
      concat("step ", step.step, " of ", config.steps, ": loss ", fixed(step.loss, 4));
  if (valid) text += ", valid " + fixed(*valid, 4);
  text += ", " + rate(speed) + " tokens/s";
  if (keep && metrics_) {
    const auto share = [seconds](double waited_s, double before_s) {
      return seconds > 0 ? (waited_s - before_s) / seconds : 0;
    };
    or_say_how_to_go_on([&] {
      this->keep({.step = step.step,
                  .tokens = state.tokens,
                  .loss = step.loss,
                  .valid_loss = valid,
                  .lr = step.lr,
                  .grad_norm = step.grad_norm,
                  .tokens_per_s = speed,
                  .time_s = state.time_s,
                  .wait_share = share(trainer_->waited_s(), logged_wait_s_),
                  .saves = saver_->take_figures(),
                  .sum_wait_share = share(trainer_->waited_for_sums_s(), logged_sum_wait_s_)},
                 progress);
    });
    logged_tokens_ = state.tokens;
    logged_time_s_ = state.time_s;
    logged_wait_s_ = trainer_->waited_s();
    logged_sum_wait_s_ = trainer_->waited_for_sums_s();
  }
  progress.update(step.step, config.steps, text, keep);
  if (keep) warn_of_divergence(step, progress);
}

void TrainingRun::write_events(const std::filesystem::path& folder) {
  if (!is_first() || trainer_->is_done()) return;
  events_folder_ = folder.empty() ? folder_.path() : folder;
  make_folder(events_folder_);
  events_.emplace(events_folder_, trainer_->state().step);
}

void TrainingRun::keep(const Metrics& row, cli::Progress& progress) {
  metrics_->append(row);
  if (!events_) return;
  events_->add(row);
  if (!row.valid_loss || !no_pictures_.empty()) return;
  events_->add_tables(row.step, trainer_->model().encoding(), no_pictures_);
  if (!no_pictures_.empty())
    progress.say(concat("[train] no pictures for TensorBoard: ", no_pictures_));
}

void TrainingRun::warn(const std::string& warning, cli::Progress& progress) const {
  if (!warn_) return;
  progress.erase();  // the line that is being rewritten, on the same terminal
  warn_(warning);
}

// Once, of a loss that no training has at its start or later, but one that goes wrong.
void TrainingRun::warn_of_divergence(const StepResult& step, cli::Progress& progress) {
  constexpr double kFar = 1.5;
  const double guessing = std::log(static_cast<double>(trainer_->model().config().vocab_size));
  if (has_diverged_ || step.loss <= kFar * guessing) return;
  has_diverged_ = true;
  warn(concat("step ", step.step, ": the loss of ", fixed(step.loss, 1),
              " is far above ln(vocabulary) = ", fixed(guessing, 1),
              ", the loss of guessing: training diverges; a smaller --lr or a longer --warmup may "
              "help"),
       progress);
}

// Once, on a device that could be given its steps in more than one way.
void TrainingRun::say_how(cli::Progress& progress) {
  const StepGraph& graph = trainer_->graph();
  const run::ResolvedConfig& config = trainer_->config();
  if (has_said_how_ || !config.uses_cuda_graph || config.device.kind == Device::Kind::cpu) return;
  has_said_how_ = graph.is_recorded() || !graph.why_not().empty();
  if (graph.is_recorded())
    progress.say(concat("[train] from here on a step is one CUDA graph of ", graph.n_nodes(),
                        " kernels and copies"));
  else if (has_said_how_)
    progress.say(concat("[train] steps are not a CUDA graph: ", graph.why_not()));
}

void TrainingRun::save() {
  const auto begin = run::CheckpointSaver::Clock::now();
  run::TrainState state = trainer_->state();
  run::NamedTensors weights = trainer_->model_tensors(), moments = trainer_->optimizer_tensors();
  if (saver_) state.metrics = metrics_->record();
  or_say_how_to_go_on([&] {
    if (!saver_) return;
    saver_->save(
        state, std::move(weights), std::move(moments),
        [file = folder_.metrics()] { MetricsFile::flush(file); }, begin);
  });
  saved_step_ = state.step;
}

// The state as it is, on the disk.
void TrainingRun::save_and_wait() {
  if (saved_step_ != trainer_->state().step) save();
  or_say_how_to_go_on([&] { run::in_first(processes(), [&] { saver_->wait(); }); });
}

void TrainingRun::or_say_how_to_go_on(const std::function<void()>& write) const {
  try {
    write();
  } catch (const IoError& error) {
    const std::optional<int64_t> saved = run::newest_step(folder_.checkpoints());
    if (is_unused() || !saved) throw;
    throw IoError(concat(error.what(), "; step ", *saved, " is saved, continue with --resume ",
                         folder_.path().string()));
  }
}

void TrainingRun::handle(const StepResult& bad, cli::Progress& progress) {
  const run::OnNonfinite policy = trainer_->config().nonfinite;
  if (good_step_ > bad_step_) bad_in_a_row_ = 0;
  bad_step_ = bad.step;
  if (policy != run::OnNonfinite::stop && ++bad_in_a_row_ > kMaxBadInARow)
    fail_together(concat(bad.problem, "; ", kMaxBadInARow,
                         " batches before it were left out without one that went well"));
  if (policy == run::OnNonfinite::skip) {
    warn(concat("[train] ", bad.problem, "; its batch is left out"), progress);
    trainer_->leave_out(bad.step);
    return;
  }
  if (policy == run::OnNonfinite::rewind) return rewind(bad, progress);
  if (is_unused())
    fail_together(
        concat(bad.problem,
               "; nothing is kept of this run; --nonfinite skip or rewind leaves the batch out"));
  save_and_wait();
  fail_together(concat(bad.problem, "; the weights of step ", bad.step - 1, " are in ",
                       folder_.checkpoints().string(),
                       ", and --resume with --nonfinite skip or rewind leaves the batch out"));
}

void TrainingRun::fail_together(const std::string& problem) const {
  if (is_first()) fail<Error>(kWhere, problem);
  fail<run::OtherFailed>(kWhere, problem);
}

void TrainingRun::rewind(const StepResult& bad, cli::Progress& progress) {
  warn(concat("[train] ", bad.problem, "; back to step ", saved_step_, ", without that batch"),
       progress);
  trainer_->leave_out(bad.step);
  run::in_first(processes(), [&] { saver_->wait(); });
  const run::Checkpoint checkpoint = run::load_newest_checkpoint(folder_.checkpoints());
  trainer_->restore(checkpoint);
  const run::TrainState state = trainer_->state();
  if (metrics_) metrics_.emplace(folder_.metrics(), state.step, checkpoint.state.metrics);
  if (events_) write_events(events_folder_);
  logged_tokens_ = state.tokens;
  logged_time_s_ = state.time_s;
  logged_sum_wait_s_ = trainer_->waited_for_sums_s();  // counts anew
}

}  // namespace farfield::train
