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
[[ $statuses == ' 1 137 1' ]] || { echo "statuses of one killed: $statuses" >&2; failed=1; }

command -v mpirun >/dev/null || {
  echo "skipped: no mpirun here (Debian: openmpi-bin)"
  exit $((failed ? 1 : 77))
}
if mpirun -n 2 "$job" 2>&1 | grep -qF 'expected a program that was built with MPI'; then
  echo "skipped: built without MPI"
  exit $((failed ? 1 : 77))
fi
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
exit $failed
