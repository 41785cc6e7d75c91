#!/bin/bash
# sweep_base.sh SWEEP PREPARE TRAIN: `sweep run --base`, the experiments that change one trained model on a run
# that the user gives: made, continued, merged and reported; moved; refused. Exit status 0 when all of it is as said.
set -u
sweep=$1 prepare=$2 train=$3
source "$(dirname "$0")/../../support/expect.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
for i in {1..60}; do
  for j in {1..40}; do echo "the $i words of line $((i * j % 97)) follow one another"; done >"$i.txt"
done
status "$prepare" --input . --ext txt --split 60,20,20 --output corpus
expect prepare 0 "$got"
model=(--data corpus --preset smoke --n-layer 1 --train-len 16 --steps 40 --batch 8 --valid-every 0 --threads 2)
status "$train" "${model[@]}" --posenc rope --out runs/base
expect 'a run' 0 "$got"

# --- what would be done
with=(--base runs/base --scale smoke --threads 2)
status "$sweep" run 'context/*' "${with[@]}" --out a --dry-run
expect 'dry run' 0 "$got"
says 'dry run' 'context/hwfa: left out: trains its own models'
says 'dry run' 'rope on corpus, L 16, seed 1, base at step 40'
says 'dry run' '15 steps from base'
expect 'folder of a dry run' '' "$(ls a 2>/dev/null)"

# --- the run is measured and fine-tuned, and stays as it is
before=$(find runs -type f | sort | xargs cksum)
two=(context/baseline context/interpolation)
status "$sweep" run "${two[@]}" "${with[@]}" --out a --jobs 2
expect 'run' 0 "$got"
says 'run' '4 of 4 cells done'
expect 'the given run' "$before" "$(find runs -type f | sort | xargs cksum)"
expect 'fine-tuned runs that are kept' '' "$(ls a/runs)"
status "$sweep" run "${two[@]}" "${with[@]}" --out a
says 'run again' '4 of 4 cells done, 0 to be made'
status "$sweep" status a
says 'status' 'given run: step 40 of runs/base (weights '
says 'status' 'context/interpolation: 4 done, 0 running, 0 open'
status "$sweep" report a
expect 'report' 0 "$got"
grep -Eq '^\* \*\*given run\*\*: step 40 of runs/base \(weights [0-9a-f]{16}\): rope, L = 16, 1 layers, ' a/report/report.md ||
  expect 'head of the report' 'the given run' "$(head a/report/report.md)"
grep -Eq '^(PASS|FAIL|UNDECIDED)( .one seed.)?  C-INT-1' said || expect 'C-INT-1' 'a verdict' "$(cat said)"
grep -Eq '^\| no change \|( [0-9.]+ \|){6}' a/report/report.md || expect 'the given run' 'its perplexities' "$(cat a/report/report.md)"

# --- changes at test time alone, and one fine-tune by its label
status "$sweep" run 'context/*' "${with[@]}" --test-time --out t --dry-run
expect 'test time' 0 "$got"
says 'test time' 'to make: 1 model, '
expect 'fine-tunes at test time' 0 "$(grep -c 'steps from base' said)"
status "$sweep" run context/rotary-scaling context/interpolation "${with[@]}" --test-time --out t
says 'made at test time' '1 of 1 cells done'
status "$sweep" status t
says 'status at test time' 'context/interpolation: 1 done, 0 running, 0 open, 0 failed, 3 not asked for'
status "$sweep" report t
expect 'report at test time' 0 "$got"
grep -Eq '^\| YaRN by 4 \|( [0-9.]+ \|){6}' t/report/report.md ||
  expect 'YaRN' 'its perplexities' "$(cat t/report/report.md)"
grep -q '^The write-up, of its Llama with 13 billion parameters' t/report/report.md ||
  expect 'the write-up' 'what it saw' "$(cat t/report/report.md)"
status "$sweep" run context/interpolation "${with[@]}" --only 'no change,positions / 4, 30 steps' --out t --dry-run
says 'a label with a comma' 'to make: 1 model, '
says 'a label with a comma' '15 steps from base'

# --- it has moved, as have the results
mkdir elsewhere
mv runs/base elsewhere/it
status "$sweep" report a
expect 'report without the run' 0 "$got"
status "$sweep" run context/modulo "${with[@]}" --out a
expect 'run without the run' 3 "$got"
says 'run without the run' 'runs/base: expected the folder of a run'
status "$sweep" run context/modulo --base elsewhere/it --scale smoke --threads 2 --out a
expect 'run of what has moved' 0 "$got"
says 'run of what has moved' '0 of 1 cells done, 1 to be made'  # the run, under one expression more
says 'run of what has moved' '1 of 1 cells done'
status "$sweep" status a
says 'status of what has moved' 'given run: step 40 of elsewhere/it'
status "$sweep" merge m a
expect 'merge' 0 "$got"
says 'merge' '4 cells new'
status "$sweep" status m
says 'status of a merge' 'given run: step 40 of elsewhere/it'

# --- refused, and nothing is kept of it
refuses() {  # WHAT STATUS MESSAGE WORDS...: of sweep run
  local what=$1 wanted=$2 message=$3
  shift 3
  status "$sweep" run "$@" --scale smoke --threads 2
  expect "$what" "$wanted" "$got"
  says "$what" "$message"
}
it=elsewhere/it
status "$train" "${model[@]}" --posenc rope --seed 2 --out runs/other
status "$train" "${model[@]}" --posenc alibi --out runs/alibi
status "$train" --task first --task-lengths 8..24 --preset smoke --n-layer 1 --steps 2 --posenc rope --threads 2 --out runs/task
expect 'a run of a task' 0 "$got"
refuses 'another run in the folder' 2 'holds a sweep of step 40' context/modulo --base runs/other --out a
refuses 'the folder without its run' 2 '--base elsewhere/it, or another --out' context/modulo --out a
status "$sweep" run context/modulo --dataset text=corpus --scale smoke --only 'no change' --out plain --dry-run
expect 'a sweep that trains' 0 "$got"
refuses 'experiments that train their models' 2 'expected some of context/baseline, context/temperature' \
  context/hwfa --base $it --out x
refuses 'a grid' 2 'expected no grid' mine.conf --base $it --out x
refuses 'seeds' 2 'whose run has one seed' context/modulo --base $it --seeds 2 --out x
refuses 'test time without a run' 2 'expected --base RUN with it' context/modulo --test-time --out x
refuses 'test time of some models' 2 'expected no --only with it' \
  context/modulo --base $it --test-time --only 'no change' --out x
refuses 'no run' 3 'expected the folder of a run' context/modulo --base nowhere --out x
refuses 'a run without rotary positions' 2 'turned by position, as with rope, not alibi' \
  context/modulo --base runs/alibi --out x
refuses 'a run of a task' 2 'one of the task first' context/modulo --base runs/task --out x
"$prepare" --input . --ext txt --tokenizer words --split 60,20,20 --output words >said 2>&1
refuses 'text of other tokens' 2 'which the model was trained with' \
  context/modulo --base $it --dataset text=words --out x
expect 'folder of what is refused' '' "$(ls -d x 2>/dev/null)"
weights=$(ls runs/other/checkpoints/step-*40/model.safetensors)
truncate -s -1 "$weights"
refuses 'a damaged run' 3 'model.safetensors' context/modulo --base runs/other --out x
rm -r runs/other/checkpoints/*
refuses 'a run without a checkpoint' 3 'expected a checkpoint' context/modulo --base runs/other --out x
# The other text is named, and the folder then keeps to it.
"$prepare" --input . --ext txt --split 50,20,30 --output text2 >said 2>&1
status "$sweep" run context/modulo --base $it --scale smoke --threads 2 --dataset text=text2 --out b
expect 'run on other text' 0 "$got"
says 'run on other text' 'on text2'
exit $failed
