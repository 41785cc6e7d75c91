#include "apps/train/requeue.h"

#include <signal.h>

#include <cstdlib>

#include "apps/cli/process.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::train {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A task of a job array by its number: the SLURM_JOB_ID of the last task equals the id of the whole
// array.
std::string job_name() {
  const std::string array = variable("SLURM_ARRAY_JOB_ID");
  return array.empty() ? variable("SLURM_JOB_ID")
                       : concat(array, '_', variable("SLURM_ARRAY_TASK_ID"));
}

}  // namespace

std::string requeue_job(bool is_alone) {
  if (variable("SLURM_JOB_ID").empty())
    return "not in a Slurm job (SLURM_JOB_ID is not set), so nothing is requeued";
  const std::string process = variable("SLURM_PROCID");
  if (is_alone && !process.empty() && process != "0") return "";
  const std::string job = job_name();
  const auto refused = [&](std::string_view why) {
    return concat("job ", job, " is not requeued", why, "; submit it again to go on");
  };
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGUSR1, SIG_IGN);
  try {
    const cli::Ended state =
        cli::run_to_end({"squeue", "--noheader", "--format=%T", "--job=" + job});
    const std::string word(trimmed(state.said));
    if (state.status != 0) return refused(": squeue says: " + word);
    if (word != "RUNNING")
      return concat("job ", job, " is not requeued: it was cancelled or its time is over (", word,
                    "); #SBATCH --signal=USR1@120 asks for a signal two minutes before that");
    const cli::Ended answer = cli::run_to_end({"scontrol", "requeue", job});
    if (answer.status == 0) return concat("job ", job, " is requeued, and goes on from here");
    return refused(concat(", Slurm refuses: ", trimmed(answer.said)));
  } catch (const IoError& error) {
    return refused(concat(": ", error.what()));
  }
}

}  // namespace farfield::train
