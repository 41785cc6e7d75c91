#!/bin/bash
# several.sh N COMMAND...: the command as N processes that find each other by the variables of
# torchrun. Ends when all have ended, with the exit status of the first of them that is not 0.
set -u
n=$1 status=0 pids=()
shift
port=$((20000 + RANDOM % 12000))
for ((rank = 0; rank < n; ++rank)); do
  RANK=$rank WORLD_SIZE=$n LOCAL_RANK=$rank LOCAL_WORLD_SIZE=$n MASTER_ADDR=127.0.0.1 \
    MASTER_PORT=$port "$@" &
  pids+=($!)
done
trap 'kill -TERM "${pids[@]}" 2>/dev/null' TERM
trap 'kill -USR1 "${pids[@]}" 2>/dev/null' USR1
for pid in "${pids[@]}"; do
  wait "$pid"
  got=$?
  while kill -0 "$pid" 2>/dev/null; do  # a signal has ended the wait, not the process
    wait "$pid"
    got=$?
  done
  ((status)) || status=$got
done
exit $status
