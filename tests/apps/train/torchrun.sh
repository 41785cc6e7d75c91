#!/bin/bash
# torchrun.sh TRAIN PREPARE EVAL JOB: the programs as PyTorch's own torchrun starts them: its agent keeps
# a store at MASTER_PORT, through which they meet. Exit status 77, saying why, where python3 has no torch.
set -u
export LC_ALL=C PYTHONWARNINGS=ignore
train=$(realpath "$1") prepare=$(realpath "$2") eval=$(realpath "$3") job=$(realpath "$4")
source "$(dirname "$0")/../../fault/small_run.sh"
python3 -c 'import torch.distributed.run' 2>/dev/null || {
  echo "skipped: python3 has no torch here (PyPI: torch)"
  exit 77
}
folder=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# torchrun ARGUMENT...: said is what it and its processes say
torchrun() { timeout 120 python3 -m torch.distributed.run --no-python "$@"; }

make_corpus "$prepare"
status "$train" $config --out whole
expect 'the run of one process' 0 "$got"
status "$eval" whole --lengths 64 --segments 20
grep '^kerple_log' said >row

# --- in each way that torchrun keeps its store, and without one
run_of() {  # NAME ARGUMENT...
  local name=$1
  shift
  status torchrun "$@" "$train" $config --out "$name"
  expect "$name" 0 "$got"
  says "$name" 'by TCP, started by torchrun'
  same_end whole "$name" || expect "$name" 'the bits of one process' "$(<difference)"
}
run_of standalone --standalone --nproc-per-node 2
run_of static --nnodes 1 --master-port $((20000 + RANDOM % 10000)) --nproc-per-node 4
TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 run_of unshared --standalone --nproc-per-node 2
USE_LIBUV=0 run_of not_libuv --standalone --nproc-per-node 2

# --- two at once
run_of first --standalone --nproc-per-node 2 >first_said 2>&1 &
torchrun --standalone --nproc-per-node 2 "$job" >second_said 2>&1
expect 'two at once' 0 $?
wait
[[ ! -s first_said ]] || expect 'two at once' 'nothing wrong' "$(<first_said)"

# --- one after the other, in one call of torchrun
cat >both.sh <<TEXT
$train $(echo $config) --out both && exec $eval both --lengths 64 --segments 20
TEXT
status torchrun --standalone --nproc-per-node 2 bash both.sh
expect 'train and eval' 0 "$got"
expect 'eval by torchrun' "$(<row)" "$(grep '^kerple_log' said)"

# --- the second attempt, where the first has failed before and after all have met
cat >again.sh <<TEXT
case \$TORCHELASTIC_RESTART_COUNT\$RANK in
  01) exit 1 ;;
  1?) exec $job throw 1 ;;
esac
exec $job
TEXT
status torchrun --standalone --nproc-per-node 2 --max-restarts 2 bash again.sh
expect 'the third attempt' 0 "$got"
says 'the second attempt' '[job] process 1 cannot go on'
says 'the third attempt' '2 processes by TCP, started by torchrun'

# --- one that does not start
begin=$SECONDS
status torchrun --standalone --nproc-per-node 2 bash -c "((RANK)) && exit 1; exec $job"
expect 'one that does not start' 1 "$got"
((SECONDS - begin <= 60)) || expect 'one that does not start' 'an end within a minute' "$((SECONDS - begin)) s"
exit $failed
