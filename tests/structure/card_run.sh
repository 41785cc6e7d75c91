#!/usr/bin/env bash
# card_run.sh SOURCE SWEEP PREPARE: apps/card_run.sh on the CPU: a visit that is cut by its time, one
# that is killed, one that goes on, and what is packed; then bad input.
set -uo pipefail
source_dir=$1 sweep=$2 prepare=$3
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
source "$source_dir/tests/support/expect.sh"
mkdir -p tree/apps tree/farfield-gpu/build/bin tree/farfield-gpu/text words
cp -r "$source_dir/apps/card_run.sh" "$source_dir/apps/gpu_check" tree/apps/
ln -s "$sweep" tree/farfield-gpu/build/bin/sweep
ln -s "$prepare" tree/farfield-gpu/build/bin/prepare
for i in {1..60}; do
  for j in {1..40}; do echo "the $i words of line $((i * j % 97)) follow one another"; done >"words/$i.txt"
done
tar -cJf tree/farfield-gpu/text/words.tar.xz words
cat >grid.conf <<'CONF'
title = a visit
encoding = alibi
encoding = rope
encoding = none
dataset = github
train-len = 32
lengths = 32, 64
train.steps = 600
train.batch = 4
train.checkpoint-every = 50
eval.segments = 20
CONF
visit() { status tree/apps/card_run.sh --build tree/farfield-gpu/build --tokenizer bytes --scale smoke --device cpu "$@"; }

# --- text lies beside the programs, as in a bundle; the first call is killed in the middle
FARFIELD_THREADS=2 tree/apps/card_run.sh --build tree/farfield-gpu/build --tokenizer bytes --scale smoke --device cpu \
  --out visit "$PWD/grid.conf" >said 2>&1 &
pid=$!
until_there 'a first model' 'ls visit/sweep/results/*.json'
kill -TERM $pid
wait $pid
expect 'a call that is killed' 143 $?
mkdir first
tar -xzf visit/results.tgz -C first || expect 'what it leaves' results.tgz none
[[ $(ls first/sweep/results | wc -l) -ge 1 ]] || expect 'what it leaves' 'a result' none

# --- the next one goes on
export FARFIELD_THREADS=2
visit --out visit --minutes 3 "$PWD/grid.conf"
expect 'the next call' 0 "$got"
says 'the next call' '3 done, 0 running, 0 open, 0 failed'
expect 'unpacked text' '' "$(ls visit/text 2>/dev/null)"
mkdir second
tar -xzf visit/results.tgz -C second
expect 'results' 3 "$(ls second/sweep/results | wc -l)"
[[ -s second/log/sweep.txt && -s second/log/prepare.txt ]] || expect 'logs' 'in the archive' "$(ls second/log)"
status "$sweep" merge merged first/sweep
says 'merge of the first' '0 there already'
status "$sweep" merge merged second/sweep
expect 'merge' 0 "$got"
status "$sweep" status merged
says 'status of what was merged' '3 done'

# --- bad input
refused() {  # WHAT MESSAGE ARGUMENT...
  local what=$1 message=$2
  shift 2
  visit "$@"
  expect "$what" 2 "$got"
  says "$what" "$message"
}
refused 'no time' 'expected --minutes from 1 on' --minutes 0
refused 'no text' "expected --text with a folder or a file, got '$PWD/nowhere'" --text nowhere
refused 'a tokenizer of another corpus' 'was made from, got others' --out visit --tokenizer words/1.txt
printf 'other words\n' >words.txt
refused 'another text by the same name' 'was made from, got others' --out visit --text words.txt
refused 'no tokenizer' 'expected --tokenizer' --tokenizer nowhere
refused 'an unknown option' "unknown argument '--fast'" --fast
refused 'no tree' "expected a built tree in '$PWD/elsewhere'" --build elsewhere
visit --out other --dataset gitub "$PWD/grid.conf"
expect 'an unknown data set' 2 "$got"
says 'an unknown data set' "did you mean 'github'"
visit --out other no/experiment
expect 'an unknown experiment' 2 "$got"
says 'an unknown experiment' 'expected an experiment'
PATH=$(mktemp -d -p "$folder"):/usr/bin:/bin status tree/apps/card_run.sh --build tree/farfield-gpu/build --tokenizer bytes
command -v nvidia-smi >/dev/null || { expect 'no card' 2 "$got"; says 'no card' 'expected an NVIDIA card'; }
((failed)) || echo 'card_run: passed'
exit $failed
