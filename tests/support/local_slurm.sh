# Sourced by tests in bash, after expect.sh: Slurm of one node on the loopback device, with all its
# files in the current folder, which is the test's own.

# start_slurm: Slurm as SLURM_CONF says, until stop_slurm. Ends the test with exit status 77, saying why,
# where it cannot be had.
pids=()
start_slurm() {
  PATH=$PATH:/usr/sbin:/sbin
  local program name
  for program in munged slurmctld slurmd sbatch srun scontrol squeue sinfo; do
    command -v $program >/dev/null || {
      echo "skipped: no $program here (Debian: slurm-wlm, munge)"
      exit 77
    }
  done
  # --- keys, one controller, one node
  chmod 755 .
  mkdir -m 711 munge state spool
  dd if=/dev/urandom of=munge/key bs=1 count=1024 status=none
  chmod 600 munge/key
  munged --foreground --force --key-file="$PWD/munge/key" --socket="$PWD/munge/socket" \
    --pid-file="$PWD/munge/pid" --log-file="$PWD/munge.log" --seed-file="$PWD/munge/seed" \
    >munged.log 2>&1 &
  pids+=($!)
  until_there munged 'test -S munge/socket' || skip_slurm 'munged does not start'
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
  until_there Slurm "sinfo --noheader --format=%T | grep -q '^idle'" ||
    skip_slurm 'Slurm does not start'
}
stop_slurm() {
  if ((${#pids[@]} == 3)); then  # what runs jobs would outlive slurmd
    scancel --user="$(id -un)"
    until_there 'the end of all jobs' '[[ -z $(squeue --noheader) ]]'
  fi
  ((${#pids[@]})) && kill "${pids[@]}" 2>/dev/null
  wait 2>/dev/null
}
skip_slurm() {  # WHY
  echo "skipped: $1"
  tail -n 3 ./*.log 2>/dev/null
  exit 77
}
# until_gone JOB: until nothing of it waits or runs
until_gone() {
  until_there "the end of job $1" "[[ -z \$(squeue --noheader --job=$1) ]]"
}
