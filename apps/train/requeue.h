#pragma once

#include <string>

namespace farfield::train {

/// Asks Slurm to queue the batch job again that this process belongs to (SLURM_JOB_ID), and returns
/// what came of it in a sentence; never throws. Not where Slurm ends the job itself (scancel, the
/// time limit): a job that was cancelled stays so. To be called by the first process of a training.
/// Where that `is_alone`, a job may have started several trainings: the one with SLURM_PROCID 0
/// asks, the others return "".
///
/// Slurm then ends the job, this process too: from this call on it ignores SIGTERM and SIGUSR1, to
/// end with its own exit status.
std::string requeue_job(bool is_alone);

}  // namespace farfield::train
