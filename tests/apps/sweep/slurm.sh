#!/bin/bash
# slurm.sh SWEEP PREPARE: `sweep run --launcher slurm` on a Slurm of one node that this starts on
# the loopback device, in a folder of its own. Exit status 77, saying why, where it cannot be had.
set -u
sweep=$1 prepare=$2
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch squeue sinfo; do
  command -v $program >/dev/null || {
    echo "skipped: no $program here (Debian: slurm-wlm, munge)"
    exit 77
  }
done
folder=$(mktemp -d) || exit 1
cd "$folder" || exit 1
pids=()
cleanup() {
  ((${#pids[@]})) && kill "${pids[@]}" 2>/dev/null
  wait 2>/dev/null
  rm -rf "$folder"
}
trap cleanup EXIT

skip() {
  echo "skipped: $1"
  tail -n 3 ./*.log 2>/dev/null
  exit 77
}
failed=0
expect() {  # WHAT WANTED GOT
  [[ $2 == "$3" ]] && return
  echo "$1: expected '$2', got '$3'" >&2
  cat said >&2
  failed=1
}
until_there() {  # WHAT COMMAND...: a minute and a half at most
  local what=$1 i
  shift
  for ((i = 0; i < 900; ++i)); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  return 1
}

# --- keys, one controller, one node
chmod 755 "$folder"
mkdir -m 711 munge state spool
dd if=/dev/urandom of=munge/key bs=1 count=1024 status=none
chmod 600 munge/key
munged --foreground --force --key-file="$PWD/munge/key" --socket="$PWD/munge/socket" \
  --pid-file="$PWD/munge/pid" --log-file="$PWD/munge.log" --seed-file="$PWD/munge/seed" \
  >munged.log 2>&1 &
pids+=($!)
until_there munged test -S munge/socket || skip 'munged does not start'
name=$(hostname -s)
cat >slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$((20000 + RANDOM % 10000))
SlurmdPort=$((30000 + RANDOM % 10000))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/socket
CredType=cred/munge
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=batch_sched_delay=1,sched_interval=1
KillWait=5
MinJobAge=300
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$name Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D -i >slurmctld.out.log 2>&1 &
pids+=($!)
slurmd -D >slurmd.out.log 2>&1 &
pids+=($!)
is_idle() { sinfo --noheader --format=%T | grep -q '^idle'; }
until_there slurm is_idle || skip 'Slurm does not start'

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
  "$sweep" run three.conf --scale smoke --dataset github=corpus --out s --launcher slurm --jobs 2 \
    "$@" >said 2>&1
  got=$?
}
run --dry-run --slurm-options '--time=10'
expect 'dry run' 0 $got
grep -q -- '^sbatch --parsable --time=10 ' said && grep -q -- '--array=1-3%2' said || expect 'dry run' 'a job array' no
expect 'jobs of a dry run' '' "$(squeue --noheader)"

# A job that waits has its cells: a second call submits none.
run --slurm-options '--time=10 --begin=now+1hour'
expect 'submission' 0 $got
job=$(cat s/slurm/1.job)
grep -q "submitted: job $job, 3 cells" said || expect 'submission' "job $job" no
run
grep -q '3 in jobs that wait or run, 0 to be submitted' said || expect 'second submission' none some
scancel "$job"
gone() { [[ -z $(squeue --noheader --job="$job" 2>/dev/null) ]]; }
until_there 'a job that is cancelled' gone

run --slurm-options '--time=10'
expect 'submission after a job was cancelled' 0 $got
job=$(cat s/slurm/2.job)
until_there 'the end of the job' gone || { squeue; cat s/slurm/*.out s/logs/*; }
"$sweep" status s >said 2>&1
grep -q 'own/three: 3 done, 0 running, 0 open, 0 failed' said || { cat s/slurm/*.out s/logs/* >&2; expect status '3 done' no; }
run
grep -q '0 to be submitted' said || expect 'a sweep that is done' none some

# --- one that fails
rm s/results/*
mv corpus gone
"$sweep" run three.conf --scale smoke --dataset github=corpus --out s --launcher slurm >said 2>&1
expect 'a corpus that is gone' 3 $?
hash=$(head -n 1 s/slurm/2.cells | cut -f 1)
sed 's/1-3%2/1-1/' s/slurm/2.sh >again.sh
job=$(sbatch --parsable again.sh)
until_there 'the end of a job that fails' gone
[[ -s s/failed/$hash.txt ]] || expect 'a cell that fails' "failed/$hash.txt" none
mv gone corpus

# --- sbatch refuses
"$sweep" run three.conf --scale smoke --dataset github=corpus --out s --launcher slurm --retry-failed \
  --slurm-options --partition=none >said 2>&1
expect 'a partition that is not there' 3 $?
grep -q 'sbatch refused the job' said || expect 'a partition that is not there' 'a reason' none
exit $failed
