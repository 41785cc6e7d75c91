#include "apps/sweep/slurm.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <system_error>

#include "apps/cli/process.h"
#include "apps/cli/shell_word.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

// Runs a program of Slurm to its end.
cli::Ended run(const std::vector<std::string>& command) {
  try {
    return cli::run_to_end(command);
  } catch (const IoError& error) {
    fail<IoError>(kWhere,
                  "--launcher slurm: expected Slurm's programs on this machine: ", error.what());
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

fs::path folder_of(const SweepFolder& folder) { return folder.path() / "slurm"; }

// The places in its list, from 1, of the tasks of a job that wait or run; none of one that is over.
std::set<size_t> live_tasks(const std::string& job) {
  const cli::Ended answer = run({"squeue", "--noheader", "--array", "--format=%K", "--job=" + job});
  std::set<size_t> tasks;
  const bool is_forgotten = answer.said.find("Invalid job id") != std::string::npos;
  require<IoError>(answer.status == 0 || is_forgotten, kWhere, "squeue of job ", job,
                   ": expected the tasks that wait or run, got: ", trimmed(answer.said),
                   "; try again when Slurm answers");
  if (is_forgotten) return tasks;
  for (const std::string& line : lines_of(answer.said))
    if (const std::string word(trimmed(line));
        !word.empty() &&
        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      tasks.insert(std::stoul(word));
  return tasks;
}

// Hashes of the cells that jobs of this folder have or will have.
std::set<std::string> live_cells(const SweepFolder& folder) {
  std::set<std::string> cells;
  std::error_code status;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(folder), status)) {
    if (entry.path().extension() != ".job") continue;
    fs::path list = entry.path();
    list.replace_extension(".cells");
    const std::vector<std::string> hashes = lines_of(read_file(list));
    for (const size_t task : live_tasks(std::string(trimmed(read_file(entry.path())))))
      if (task >= 1 && task <= hashes.size())
        cells.insert(hashes[task - 1].substr(0, hashes[task - 1].find('\t')));
  }
  return cells;
}

fs::path name_of(const SweepFolder& folder, int n) { return folder_of(folder) / std::to_string(n); }

// The first number that is free: slurm/1, slurm/2, ...
int next_number(const SweepFolder& folder) {
  for (int n = 1;; ++n) {
    std::error_code status;
    if (!fs::exists(name_of(folder, n).string() + ".cells", status)) return n;
  }
}

std::vector<std::string> sbatch_command(const SlurmOptions& slurm, const std::string& script,
                                        const std::string& after) {
  std::vector<std::string> command = {"sbatch", "--parsable"};
  std::istringstream words(slurm.options);
  for (std::string word; words >> word;) command.push_back(word);
  if (!after.empty()) command.push_back("--dependency=afterany:" + after);
  command.push_back(script);
  return command;
}

// Cells as job arrays: first those that wait for none of the others, then those that start from
// the weights of a cell of the first array.
std::vector<std::vector<Cell>> arrays_of(const std::vector<Cell>& cells) {
  std::set<std::string> hashes;
  for (const Cell& cell : cells) hashes.insert(cell.hash());
  std::vector<std::vector<Cell>> arrays(2);
  for (const Cell& cell : cells)
    arrays[cell.base && hashes.count(cell.base->hash()) != 0 ? 1 : 0].push_back(cell);
  std::erase_if(arrays, [](const std::vector<Cell>& array) { return array.empty(); });
  return arrays;
}

std::string list_text(const std::vector<Cell>& cells) {
  std::string text;
  for (const Cell& cell : cells) text += concat(cell.hash(), '\t', cell.label(), '\n');
  return text;
}

}  // namespace

std::string array_script(const SweepFolder& folder, const std::vector<Cell>& cells,
                         const fs::path& list, const DriverOptions& options,
                         const SlurmOptions& slurm) {
  const fs::path root = fs::absolute(folder.path());
  const std::string threads = std::to_string(std::max<int64_t>(1, options.threads / options.jobs));
  return concat(
      "#!/bin/bash\n"
      "#SBATCH --job-name=sweep\n"
      "#SBATCH --array=1-",
      cells.size(), '%', options.jobs, "\n#SBATCH --cpus-per-task=", threads,
      slurm.has_card ? "\n#SBATCH --gres=gpu:1" : "",
      "\n#SBATCH --output=", cli::shell_word((root / "slurm" / "%A_%a.out").string()),
      "\n"
      "# A minute before the time is over the cell is told to leave a checkpoint.\n"
      "#SBATCH --signal=B:TERM@60\n"
      "cd ",
      cli::shell_word(root.string()), " || exit 1\nIFS=$'\\t' read -r hash label < <(sed -n ",
      "\"${SLURM_ARRAY_TASK_ID}p\" ", cli::shell_word(fs::absolute(list).string()),
      ")\n"
      "rm -f \"failed/$hash.txt\"\n",
      cli::shell_word(cli::own_program()), " cell . \"$hash\" --threads ", threads,
      options.keep_weights ? " --keep-weights" : " --drop-base",
      options.tensorboard ? " --tensorboard" : "",
      " >>\"logs/$hash.log\" 2>&1 &\n"
      "trap 'kill -TERM $!' TERM\n"
      "wait $!\n"
      "status=$?\n"
      "# A signal ends the wait, not the cell.\n"
      "while kill -0 $! 2>/dev/null; do wait $!; status=$?; done\n"
      "if ((status != ",
      static_cast<int>(cli::kDone), " && status != ", static_cast<int>(cli::kStopped),
      ")); then\n"
      "  { echo \"$label: exit status $status\"; tail -c 2000 \"logs/$hash.log\"; } "
      ">\"failed/$hash.txt\"\n"
      "fi\n"
      "exit $status\n");
}

namespace {

// The job's number. `after`: the job that ends before this one begins, or "".
std::string submit_array(const SweepFolder& folder, const std::vector<Cell>& cells,
                         const DriverOptions& options, const SlurmOptions& slurm,
                         const std::string& after) {
  const std::string name = name_of(folder, next_number(folder)).string();
  write_file_atomic(name + ".cells", list_text(cells));
  write_file_atomic(name + ".sh", array_script(folder, cells, name + ".cells", options, slurm));
  const cli::Ended answer = run(sbatch_command(slurm, name + ".sh", after));
  const std::string job = answer.said.substr(0, answer.said.find_first_of(";\n"));
  const bool is_number = !job.empty() && std::all_of(job.begin(), job.end(), [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  require<IoError>(answer.status == 0 && is_number, kWhere,
                   "--launcher slurm: sbatch refused the job: ", trimmed(answer.said));
  write_file_atomic(name + ".job", job + '\n');
  return job;
}

}  // namespace

cli::ExitCode submit(const SweepFolder& folder, const std::vector<Cell>& cells,
                     const DriverOptions& options, const SlurmOptions& slurm, std::ostream& out) {
  std::vector<Cell> waiting = cells_to_make(folder, cells, options);
  const std::set<std::string> live = live_cells(folder);
  const size_t n_open = waiting.size();
  std::erase_if(waiting, [&](const Cell& cell) { return live.count(cell.hash()) != 0; });
  out << cells.size() - n_open << " of " << cells.size() << " cells done or failed, "
      << n_open - waiting.size() << " in jobs that wait or run, " << waiting.size()
      << " to be submitted\n";
  if (waiting.empty()) return cli::kDone;
  require_writable_folder(folder_of(folder));
  for (const Cell& cell : waiting) write_cell(folder.cells(), cell);
  std::string job;
  for (const std::vector<Cell>& array : arrays_of(waiting)) {
    job = submit_array(folder, array, options, slurm, job);
    out << "submitted: job " << job << ", " << array.size() << " cells, " << options.jobs
        << " at a time\n";
  }
  out << "squeue --job=" << job << " shows the tasks, sweep status " << folder.path().string()
      << " the cells\n";
  return cli::kDone;
}

void show_submission(const SweepFolder& folder, const std::vector<Cell>& waiting,
                     const DriverOptions& options, const SlurmOptions& slurm, std::ostream& out) {
  if (waiting.empty()) {
    out << "nothing to submit\n";
    return;
  }
  int n = next_number(folder);
  std::string after;
  for (const std::vector<Cell>& array : arrays_of(waiting)) {
    const std::string name = name_of(folder, n).string();
    out << joined(sbatch_command(slurm, name + ".sh", after), " ", cli::shell_word) << "\n\n"
        << name << ".sh:\n"
        << array_script(folder, array, name + ".cells", options, slurm) << '\n'
        << name << ".cells:\n"
        << list_text(array);
    after = concat("JOB_OF_", n++);
  }
}

}  // namespace farfield::sweep
