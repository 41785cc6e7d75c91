#!/bin/bash
# slurm.sh TRAIN PREPARE: `train --requeue` as a batch job, on a Slurm of one node that this starts on
# the loopback device. A job that gets its signal requeues itself and ends as a run that nobody
# disturbed, bit for bit; one that is cancelled, or must not be requeued, does not come back. Exit
# status 77, saying why, where Slurm cannot be had.
set -u
export LC_ALL=C
train=$(realpath "$1") prepare=$(realpath "$2")
last=600 every=200  # a second or two
source "$(dirname "$0")/../../fault/small_run.sh"
source "$(dirname "$0")/../../support/local_slurm.sh"
folder=$(mktemp -d) || exit 1
trap 'stop_slurm; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
start_slurm
make_corpus "$prepare"
status "$train" $config --out whole
expect 'the run that nobody disturbs' 0 "$got"

# script NAME LINE...: NAME.sh, as the README has it, which writes to the file NAME.said
script() {
  local name=$1
  shift
  printf '%s\n' '#!/bin/bash' "#SBATCH --output=$name.said --open-mode=append --requeue" "$@" >"$name.sh"
}
# restarts JOB: how often Slurm has started it again
restarts() { scontrol show job "$1" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p'; }
# until_trains NAME: until the job has done steps
until_trains() { until_there "steps of $1" "grep -q '^step ' $1.said"; }
# until_requeued NAME JOB: waits until the job is requeued and runs again. Slurm holds it back for
# two minutes, so that the node does not take it for the job that it has just ended; this shortens
# the wait, as an operator may.
until_requeued() {
  until_there "$1 in the queue again" "[[ \$(restarts $2) == 1 ]]"
  sleep 2
  until_there "$1 running again" "scontrol update JobId=$2 StartTime=now
    ! squeue --noheader --format=%T --job=$2 | grep -qE 'PENDING|COMPLETING'"
}

# A job that is out of time is told so by Slurm alone: it needs its minute beside the others.
plain=$(echo $config)  # in one line
endless=${plain/--steps $last/--steps 1000000000}
script limit '#SBATCH --time=1 --signal=B:USR1@50' "exec $train --requeue $endless --out limit"
limit=$(sbatch --parsable limit.sh)

# --- by a step, as `--signal=USR1@120` sends it; and by the script itself, as `--signal=B:USR1@120` does
script step "srun $train --requeue $plain --out step"
script batch "exec $train --requeue $plain --out batch"
script launcher "exec srun $train --requeue $plain --out launcher"
for how in step: batch:--batch launcher:--batch; do
  name=${how%:*}
  job=$(sbatch --parsable $name.sh)
  until_trains $name
  scancel ${how#*:} --signal=USR1 "$job"
  until_requeued $name "$job"
  cp $name.said said
  says $name 'stopped on request after step'
  says $name "job $job is requeued, and goes on from here"
  until_gone "$job"
  cp $name.said said
  says $name 'resuming at step'
  expect "restarts of $name" 1 "$(restarts "$job")"
  same_end whole $name || expect "the end of $name" 'that of the undisturbed run' "$(<difference)"
done

# --- a requeued job that finds its run finished has nothing to do
status "$train" --requeue $config --out step
expect 'a run that is finished' 0 "$got"
says 'a run that is finished' 'this run is finished'

# --- one that Slurm must not requeue ends with the status that says so
job=$(sbatch --parsable --no-requeue --output=never.said <<<"#!/bin/bash
exec $train --requeue $endless --out never")
until_trains never
scancel --batch --signal=USR1 "$job"
until_gone "$job"
cp never.said said
says 'no requeue' "job $job is not requeued, Slurm refuses"
expect 'exit status without requeue' 75:0 "$(scontrol show job "$job" | sed -n 's/.*ExitCode=//p')"

# --- one that is cancelled stays so, with its checkpoint
script cancelled "exec $train --requeue $endless --out cancelled"
job=$(sbatch --parsable cancelled.sh)
until_trains cancelled
scancel "$job"
until_gone "$job"
cp cancelled.said said
says 'a job that is cancelled' 'stopped on request after step'
says 'a job that is cancelled' "job $job is not requeued: it was cancelled"
expect 'restarts of a job that is cancelled' 0 "$(restarts "$job")"

# --- the signal before the time is over
until_requeued limit "$limit"
cp limit.said said
says 'the time limit' "job $limit is requeued, and goes on from here"
until_there 'a job that goes on after its time limit' 'grep -q "^resuming at step" limit.said'
scancel "$limit"
exit $failed
