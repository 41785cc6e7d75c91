#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/cli/options.h"
#include "apps/cli/progress.h"
#include "apps/run/checkpoint_saver.h"
#include "apps/run/folder.h"
#include "apps/train/data_check.h"
#include "apps/train/metrics.h"
#include "apps/train/tensorboard.h"
#include "apps/train/trainer.h"

namespace farfield::train {

/// A trainer and its run folder: steps, metrics, checkpoints, signals, and what to do about numbers
/// that are not finite. Of a group of processes the first alone writes to the folder; each makes
/// the same calls, and a signal to one stops all.
class TrainingRun {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Starts a new run in `out`. Its checkpoint of step 0 is written at once, so the run can always
  /// be resumed. Interrupted, and nothing is there, when stop_is_due() before that; resume()
  /// likewise.
  ///
  /// warn  told what speaks against this call once the corpus is open (memory_warning(), fewer
  ///       valid windows than asked for), of a loss that diverges, of batches that are left out and
  ///       of metrics that are gone
  static TrainingRun start(const run::ResolvedConfig& config, const std::string& out,
                           const Warn& warn = {}, const Group& group = {});
  /// Goes on with a run at its newest checkpoint. `config` is the run's own, with what
  /// this call changes; ConfigError names the first setting that must not change.
  static TrainingRun resume(const run::ResolvedConfig& config, const std::string& path,
                            const Warn& warn = {}, const Group& group = {});

  /// Trains until the last step (kDone), or until `stop_after` or a signal (signals.h) asks for a
  /// stop (kStopped); both end with a checkpoint. When stop_is_due(), an unfinished step is given
  /// up, and the checkpoint holds the state before it. The same happens when a number is not finite
  /// and the policy is to stop, which is an Error. An error before the first step of a new run is
  /// done removes its folder, so that the same command can start it again.
  cli::ExitCode go(cli::Progress& progress, std::optional<int64_t> stop_after = {});

  /// Writes event files for TensorBoard from here on, into this folder, which is made where it is
  /// not there, or beside metrics.csv. Nothing for a run that is finished.
  void write_events(const std::filesystem::path& folder = {});

  Trainer& trainer() { return *trainer_; }
  const run::RunFolder& folder() const { return folder_; }

 private:
  TrainingRun(run::RunFolder folder, std::unique_ptr<DataCheck> check,
              std::unique_ptr<Trainer> trainer, const run::FileRecord& metrics);

  bool is_first() const { return trainer_->group().is_first(); }
  comm::Communicator& processes() const { return trainer_->group().communicator(); }
  cli::ExitCode make_steps(cli::Progress& progress, std::optional<int64_t> stop_after);
  /// Whether all that this run has is the state that it was started with.
  bool is_unused() const { return is_new_ && good_step_ == 0 && saved_step_ == 0; }
  void log(const StepResult& step, bool is_last, cli::Progress& progress);
  /// A row of metrics.csv, and of event files.
  void keep(const Metrics& row, cli::Progress& progress);
  void warn(const std::string& warning, cli::Progress& progress) const;
  void warn_of_divergence(const StepResult& step, cli::Progress& progress);
  void say_how(cli::Progress& progress);
  void save();
  void save_and_wait();
  /// write(), whose IoError then says from where the run goes on too.
  void or_say_how_to_go_on(const std::function<void()>& write) const;
  void handle(const StepResult& bad, cli::Progress& progress);
  void rewind(const StepResult& bad, cli::Progress& progress);
  /// Fails with a problem that all processes share: the first throws Error, the others OtherFailed.
  [[noreturn]] void fail_together(const std::string& problem) const;

  run::RunFolder folder_;
  std::unique_ptr<DataCheck> check_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<MetricsFile> metrics_;  // in the first process
  std::optional<TensorBoard> events_;   // likewise, where asked for
  std::filesystem::path events_folder_;
  std::string no_pictures_;                      // why; "" as long as they can be drawn
  std::unique_ptr<run::CheckpointSaver> saver_;  // likewise
  bool is_new_ = false;                          // made by this object
  int64_t saved_step_ = -1;    // of the newest checkpoint, which may still be written
  int64_t good_step_ = 0;      // the latest that was finite
  int64_t bad_step_ = 0;       // the latest that was not
  int64_t bad_in_a_row_ = 0;   // such steps without a finite one beyond them
  int64_t logged_tokens_ = 0;  // at the row before
  double logged_time_s_ = 0, logged_wait_s_ = 0, logged_sum_wait_s_ = 0;
  bool has_said_how_ = false;  // the device is given its steps
  bool has_diverged_ = false;  // and this was told
  Warn warn_;
  std::vector<std::string> told_at_start_;  // pending remarks on the initial weights
  std::string products_said_;               // a pending remark on measured products
};

}  // namespace farfield::train
