#include "apps/sweep/driver.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iostream>
#include <list>
#include <set>
#include <system_error>
#include <thread>

#include "apps/cli/duration.h"
#include "apps/cli/process.h"
#include "apps/cli/progress.h"
#include "apps/cli/signals.h"
#include "apps/sweep/pace.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_lock.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";
using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(50);
// A stopped worker finishes its step, or gives it up after 10 s, and writes a checkpoint.
constexpr auto kPatience = std::chrono::seconds(60);
constexpr double kMargin = 1.05;  // of the time that a cell is expected to take

std::string last_lines(const fs::path& file, size_t most) {
  std::error_code status;
  if (!fs::exists(file, status)) return "";
  std::string text = read_file(file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.size() > most ? text.substr(text.size() - most) : text;
}

std::string how_it_ended(int status) {
  if (status == 128 + SIGKILL) return "killed (signal 9; was there enough memory?)";
  if (status > 128) return concat("killed by signal ", status - 128);
  return concat("exit status ", status);
}

struct Running {
  Cell cell;
  cli::Process worker;
};

// One call of drive().
class Drive {
 public:
  Drive(const SweepFolder& folder, const DriverOptions& options)
      : folder_(folder), options_(options) {}
  cli::ExitCode run(const std::vector<Cell>& cells);

 private:
  void start(Cell cell);
  void learn_pace(const Cell& cell);
  bool is_in_time(const Cell& cell) const;
  bool waits_for_base(const Cell& cell, const std::deque<Cell>& waiting) const;
  void drop_bases() const;
  bool none_in_time(const std::deque<Cell>& waiting) const;
  bool is_over() const { return options_.deadline && Clock::now() >= *options_.deadline; }
  bool is_done(const Cell& cell) const;
  void start_some(std::deque<Cell>& waiting);
  void look();
  void finish(const Running& running);
  void stop();
  std::string state() const;

  const SweepFolder& folder_;
  const DriverOptions& options_;
  std::ostream& out_ = cli::remarks();
  std::list<Running> running_;
  std::set<std::string> bases_;  // hashes of cells that others start from
  size_t n_done_ = 0, n_failed_ = 0, n_all_ = 0;
  double work_done_ = 0, work_left_ = 0;
  Pace pace_;
  Clock::time_point start_ = Clock::now();
};

std::string Drive::state() const {
  std::string text = concat(n_done_, " of ", n_all_, " cells done");
  if (n_failed_ > 0) text += concat(", ", n_failed_, " failed");
  if (work_done_ > 0 && work_left_ > 0)
    text += ", " + cli::duration(seconds_since(start_) * work_left_ / work_done_) + " left";
  return text;
}

void Drive::start(Cell cell) {
  write_cell(folder_.cells(), cell);
  std::error_code status;
  fs::remove(folder_.failed() / (cell.hash() + ".txt"), status);
  DriverOptions options = options_;
  options.keep_weights |= bases_.count(cell.hash()) > 0;
  std::vector<std::string> command = command_of(folder_, cell, options);
  command.insert(command.end(), {"--parent", std::to_string(::getpid())});
  cli::Process worker(command, folder_.logs() / (cell.hash() + ".log"));
  running_.push_back({std::move(cell), std::move(worker)});
}

bool Drive::is_done(const Cell& cell) const {
  std::error_code status;
  const fs::path file = result_path(folder_.results(), cell.hash());
  if (!fs::exists(file, status)) return false;
  try {
    return read_result(file).covers(cell);
  } catch (const IoError&) {
    return false;  // damaged: its worker puts it aside
  }
}

void Drive::learn_pace(const Cell& cell) {
  try {
    pace_.learn(cell, read_result(result_path(folder_.results(), cell.hash())));
  } catch (const IoError&) {  // taken away meanwhile: nothing is learnt of it
  }
}

// Whether there is time for it. The first one of all is begun in any case: nothing is known yet,
// and it leaves a checkpoint.
bool Drive::is_in_time(const Cell& cell) const {
  if (!options_.deadline || !pace_.is_known()) return true;
  const std::chrono::duration<double> left = *options_.deadline - Clock::now();
  return pace_.seconds_left(folder_, cell, options_.is_card) * kMargin <= left.count();
}

// Whether the cell that it starts from is to be made first.
bool Drive::waits_for_base(const Cell& cell, const std::deque<Cell>& waiting) const {
  if (!cell.base) return false;
  const std::string hash = cell.base->hash();
  return std::any_of(waiting.begin(), waiting.end(),
                     [&](const Cell& other) { return other.hash() == hash; }) ||
         std::any_of(running_.begin(), running_.end(),
                     [&](const Running& other) { return other.cell.hash() == hash; });
}

// The weights that cells have started from, unless a cell of any call still needs them.
void Drive::drop_bases() const {
  if (options_.keep_weights) return;
  for (const std::string& hash : bases_) drop_weights(folder_, hash);
}

bool Drive::none_in_time(const std::deque<Cell>& waiting) const {
  return !waiting.empty() && std::none_of(waiting.begin(), waiting.end(), [&](const Cell& cell) {
    return is_in_time(cell) && !waits_for_base(cell, waiting);
  });
}

// Starts cells that no other driver's workers make; waits for the results of the others.
void Drive::start_some(std::deque<Cell>& waiting) {
  while (!waiting.empty() && running_.size() < static_cast<size_t>(options_.jobs)) {
    const auto next = std::find_if(waiting.begin(), waiting.end(), [&](const Cell& cell) {
      return !FileLock::is_held(folder_.lock(cell.hash()), kWhere) && is_in_time(cell) &&
             !waits_for_base(cell, waiting);
    });
    if (next == waiting.end()) return;
    Cell cell = std::move(*next);
    waiting.erase(next);
    if (is_done(cell)) {
      ++n_done_;
      work_left_ -= cell.work();
      out_ << cell.label() << ": done by another process; " << state() << std::endl;
    } else {
      start(std::move(cell));
    }
  }
}

void Drive::finish(const Running& running) {
  const Cell& cell = running.cell;
  const int status = running.worker.status();
  work_left_ -= cell.work();
  if (status == cli::kDone) {
    ++n_done_;
    work_done_ += cell.work();
    learn_pace(cell);
    out_ << cell.label() << ": done; " << state() << std::endl;
    return;
  }
  ++n_failed_;
  const std::string said = last_lines(folder_.logs() / (cell.hash() + ".log"), 2000);
  write_file_atomic(folder_.failed() / (cell.hash() + ".txt"),
                    concat(cell.label(), ": ", how_it_ended(status), '\n', said, '\n'));
  std::cerr << cell.label() << ": failed, " << how_it_ended(status) << ": "
            << said.substr(said.rfind('\n') + 1) << "; " << state() << std::endl;
}

void Drive::look() {
  for (auto i = running_.begin(); i != running_.end();) {
    if (!i->worker.has_ended()) {
      ++i;
      continue;
    }
    finish(*i);
    i = running_.erase(i);
  }
}

// Passes the signal on and waits for the checkpoints.
void Drive::stop() {
  for (const Running& r : running_) r.worker.signal(SIGTERM);
  const Clock::time_point since = Clock::now();
  while (!running_.empty() && Clock::now() - since < kPatience) {
    for (auto i = running_.begin(); i != running_.end();)
      if (!i->worker.has_ended())
        ++i;
      else if (i->worker.status() == cli::kDone) {
        finish(*i);
        i = running_.erase(i);
      } else {
        i = running_.erase(i);
      }
    std::this_thread::sleep_for(kLook);
  }
  running_.clear();
}

cli::ExitCode Drive::run(const std::vector<Cell>& cells) {
  const Results results = readable_results(folder_);
  const CellStates states = states_of(folder_, cells, results);
  n_all_ = cells.size();
  n_done_ = states.done.size();
  std::deque<Cell> waiting(states.open.begin(), states.open.end());
  if (options_.retry_failed)
    waiting.insert(waiting.end(), states.failed.begin(), states.failed.end());
  else
    n_failed_ = states.failed.size();
  out_ << state() << ", " << waiting.size() << " to be made by " << options_.jobs << " worker"
       << (options_.jobs == 1 ? "" : "s");
  if (!states.running.empty())
    out_ << ", " << states.running.size() << " being made by another process";
  out_ << std::endl;
  waiting.insert(waiting.end(), states.running.begin(), states.running.end());
  for (const Cell& cell : waiting) work_left_ += cell.work();
  for (const Cell& cell : cells)
    if (cell.base) bases_.insert(cell.base->hash());
  pace_ = pace_of(states.done, results);
  const cli::StopSignals signals(
      "sweep: stopping; every cell leaves a checkpoint. A second signal ends at once");
  while (!waiting.empty() || !running_.empty()) {
    if (cli::stop_requested()) {
      stop();
      std::cerr << "stopped on request; " << state() << "; run the same command to continue"
                << std::endl;
      return cli::kStopped;
    }
    if (!is_over()) start_some(waiting);
    look();
    if (is_over() || (options_.deadline && running_.empty() && none_in_time(waiting))) {
      stop();
      if (waiting.empty() && n_done_ + n_failed_ == n_all_) break;
      std::cerr << "stopped for the time limit; " << state() << "; run the same command to continue"
                << std::endl;
      return cli::kStopped;
    }
    std::this_thread::sleep_for(kLook);
  }
  drop_bases();
  return n_failed_ == 0 ? cli::kDone : cli::kFailed;
}

}  // namespace

CellStates states_of(const SweepFolder& folder, const std::vector<Cell>& cells) {
  return states_of(folder, cells, readable_results(folder));
}

CellStates states_of(const SweepFolder& folder, const std::vector<Cell>& cells,
                     const Results& results) {
  CellStates states;
  for (const Cell& cell : cells) {
    const CellResult* const found = results.find(cell.hash());
    std::error_code status;
    if (found != nullptr && found->covers(cell))
      states.done.push_back(cell);
    else if (FileLock::is_held(folder.lock(cell.hash()), kWhere))
      states.running.push_back(cell);
    else if (fs::exists(folder.failed() / (cell.hash() + ".txt"), status))
      states.failed.push_back(cell);
    else
      states.open.push_back(cell);
  }
  return states;
}

std::vector<Cell> cells_to_make(const SweepFolder& folder, const std::vector<Cell>& cells,
                                const DriverOptions& options) {
  CellStates states = states_of(folder, cells);
  if (options.retry_failed)
    states.open.insert(states.open.end(), states.failed.begin(), states.failed.end());
  return std::move(states.open);
}

std::string failure_of(const SweepFolder& folder, const std::string& hash) {
  return last_lines(folder.failed() / (hash + ".txt"), 2000);
}

std::vector<std::string> command_of(const SweepFolder& folder, const Cell& cell,
                                    const DriverOptions& options) {
  std::vector<std::string> command = {
      cli::own_program(),
      "cell",
      fs::absolute(folder.path()).string(),
      cell.hash(),
      "--threads",
      std::to_string(std::max<int64_t>(1, options.threads / options.jobs)),
      "--workers",
      std::to_string(options.jobs)};
  if (options.keep_weights) command.emplace_back("--keep-weights");
  if (options.tensorboard) command.emplace_back("--tensorboard");
  return command;
}

cli::ExitCode drive(const SweepFolder& folder, const std::vector<Cell>& cells,
                    const DriverOptions& options) {
  return Drive(folder, options).run(cells);
}

}  // namespace farfield::sweep
