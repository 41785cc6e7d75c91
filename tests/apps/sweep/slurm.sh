#!/bin/bash
# slurm.sh SWEEP PREPARE: `sweep run --launcher slurm` on a Slurm of one node that this starts on
# the loopback device, in a folder of its own. Exit status 77, saying why, where it cannot be had.
set -u
sweep=$1 prepare=$2
source "$(dirname "$0")/../../support/expect.sh"
source "$(dirname "$0")/../../support/local_slurm.sh"
folder=$(mktemp -d) || exit 1
trap 'stop_slurm; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
start_slurm

# --- a sweep
for i in {1..60}; do
  for j in {1..40}; do echo "the $i words of line $((i * j % 97)) follow one another"; done >"$i.txt"
done
"$prepare" --input . --ext txt --split 60,20,20 --output corpus >/dev/null || exit 1
cat >three.conf <<'CONF'
encoding = alibi
encoding = rope
encoding = none
dataset = github
train-len = 32
lengths = 32, 64
train.steps = 20
train.batch = 4
eval.segments = 20
CONF
run() {
  status "$sweep" run three.conf --scale smoke --dataset github=corpus --out s --launcher slurm --jobs 2 "$@"
}
run --dry-run --slurm-options '--time=10'
expect 'dry run' 0 $got
says 'dry run' 'sbatch --parsable --time=10 '
says 'dry run' '--array=1-3%2'
expect 'jobs of a dry run' '' "$(squeue --noheader)"

# A job that waits has its cells: a second call submits none.
run --slurm-options '--time=10 --begin=now+1hour'
expect 'submission' 0 $got
job=$(cat s/slurm/1.job)
says submission "submitted: job $job, 3 cells"
run
says 'second submission' '3 in jobs that wait or run, 0 to be submitted'
scancel "$job"
until_gone "$job"

run --slurm-options '--time=10'
expect 'submission after a job was cancelled' 0 $got
job=$(cat s/slurm/2.job)
until_gone "$job" || { squeue; cat s/slurm/*.out s/logs/*; }
status "$sweep" status s
says status 'own/three: 3 done, 0 running, 0 open, 0 failed' || cat s/slurm/*.out s/logs/* >&2
run
says 'a sweep that is done' '0 to be submitted'

# --- models that start from another, in a job after its job
bases() {
  status "$sweep" run context/modulo context/block-repeat context/logn --scale smoke --dataset text=corpus \
    --only 'no change,80 steps at 1.5 L' --out b --launcher slurm "$@"
}
bases --dry-run
says 'dry run with a fine-tune' '--dependency=afterany:JOB_OF_1'
bases --slurm-options '--time=10'
expect 'submission of a fine-tune' 0 $got
job=$(cat b/slurm/2.job)
until_gone "$job" || { squeue; cat b/slurm/*.out b/logs/*; }
status "$sweep" status b
says 'status of a fine-tune' 'context/logn: 2 done, 0 running, 0 open, 0 failed' || cat b/slurm/*.out b/logs/* >&2
expect 'weights that were started from' '' "$(ls b/runs)"

# --- one that fails
rm s/results/*
mv corpus gone
"$sweep" run three.conf --scale smoke --dataset github=corpus --out s --launcher slurm >said 2>&1
expect 'a corpus that is gone' 3 $?
hash=$(head -n 1 s/slurm/2.cells | cut -f 1)
sed 's/1-3%2/1-1/' s/slurm/2.sh >again.sh
job=$(sbatch --parsable again.sh)
until_gone "$job"
[[ -s s/failed/$hash.txt ]] || expect 'a cell that fails' "failed/$hash.txt" none
mv gone corpus

# --- sbatch refuses
"$sweep" run three.conf --scale smoke --dataset github=corpus --out s --launcher slurm --retry-failed \
  --slurm-options --partition=none >said 2>&1
expect 'a partition that is not there' 3 $?
says 'a partition that is not there' 'sbatch refused the job'
exit $failed
