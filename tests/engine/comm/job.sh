#!/bin/bash
# job.sh JOB: its processes started by mpirun, and by the variables that torchrun sets. Exit status
# 77, saying why, where there is no mpirun; what it needs not is tested all the same.
set -u
job=$1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # for containers
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
failed=0

# says WHAT TEXT: the last command has said it
says() {
  grep -qF -- "$2" "$said" && return
  echo "$1: expected '$2' in what it says:" >&2
  cat "$said" >&2
  failed=1
}

# by_variables SIZE ARGUMENT...: that many processes; their exit statuses, in $statuses
by_variables() {
  local size=$1 rank pids=()
  shift
  port=$((20000 + RANDOM % 10000))
  for ((rank = 0; rank < size; ++rank)); do
    RANK=$rank WORLD_SIZE=$size MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
      timeout 120 "$job" "$@" >>"$said" 2>&1 &
    pids+=($!)
  done
  statuses=
  for pid in "${pids[@]}"; do
    wait "$pid"
    statuses+=" $?"
  done
}

"$job" >"$said" 2>&1
says 'alone' 'one process, started by nobody'
: >"$said"
by_variables 3
says 'three by variables' '3 processes by TCP, started by RANK and WORLD_SIZE'
: >"$said"
by_variables 3 kill 1
says 'one of three is killed' 'process 1 of 3 has ended or cannot be reached any more'
[[ $statuses == ' 3 137 3' ]] || { echo "statuses of one killed: $statuses" >&2; failed=1; }
: >"$said"
by_variables 3 throw 1
says 'one of three fails' '[job] process 1 cannot go on'
says 'one of three fails' 'process 1 of 3 has ended or cannot be reached any more'
[[ $statuses == ' 3 3 3' ]] || { echo "statuses of one that fails: $statuses" >&2; failed=1; }

command -v mpirun >/dev/null || {
  echo "skipped: no mpirun here (Debian: openmpi-bin)"
  exit $((failed ? 1 : 77))
}
if mpirun -n 2 "$job" 2>&1 | grep -qF 'expected a program that was built with MPI'; then
  echo "skipped: built without MPI"
  exit $((failed ? 1 : 77))
fi
# What MPI keeps to its end would be leaks to the address sanitizer.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
for size in 1 2 3 4; do
  timeout 120 mpirun --oversubscribe -n $size "$job" >"$said" 2>&1 || failed=1
  if ((size == 1)); then
    says 'one by mpirun' 'one process, started by mpirun'
  else
    says "$size by mpirun" "$size processes by MPI (Open MPI"
  fi
done
timeout 120 mpirun --oversubscribe -n 3 "$job" kill 1 >"$said" 2>&1
status=$?
((status != 0 && status != 124)) || { echo "mpirun of one killed: $status" >&2; failed=1; }
# One fails, and the others wait for it: it says why, and ends them.
for rank in 0 1; do
  begin=$SECONDS
  timeout 40 mpirun --oversubscribe -n 3 "$job" throw $rank >"$said" 2>&1
  status=$?
  says "process $rank of mpirun fails" "[job] process $rank cannot go on"
  ((status == 3 && SECONDS - begin <= 30)) || {
    echo "mpirun of one that fails: status $status after $((SECONDS - begin)) s" >&2
    failed=1
  }
done
# As srun starts it with a PMI that this MPI does not know.
PMI_RANK=1 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 timeout 40 "$job" >"$said" 2>&1
status=$?
says 'alone in MPI' 'expected process 1 of 2 in MPI, as srun says, got 0 of 1'
((status == 3)) || { echo "alone in MPI: status $status" >&2; failed=1; }
# All fail: nobody has to be ended.
timeout 40 mpirun --oversubscribe -n 3 "$job" throw all >"$said" 2>&1
status=$?
for rank in 0 1 2; do says 'all of mpirun fail' "[job] process $rank cannot go on"; done
if ((status != 3)) || grep -q MPI_ABORT "$said"; then
  echo "mpirun of three that fail: status $status" >&2
  cat "$said" >&2
  failed=1
fi
exit $failed
