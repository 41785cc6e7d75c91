#!/bin/bash
# published.sh BIN GOLDEN: what a user does with a published model, by the programs themselves, on the
# tiny checkpoints of GOLDEN: import, text by its tokenizer, perplexity under other encodings, text
# continued, export, training from its weights with and without adapters, list, details, experiments.
set -u
export LC_ALL=C
bin=$(realpath "$1") golden=$(realpath "$2")
source "$(dirname "$0")/../../support/expect.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# run WHAT COMMAND...: a program of BIN ends with status 0; what it prints alone is in the file out
run() {
  local what=$1 program=$2
  shift 2
  "$bin/$program" "$@" >out 2>said
  expect "$what" 0 $?
}
# refused WHAT STATUS MESSAGE COMMAND...
refused() {
  local what=$1 wanted=$2 message=$3 program=$4
  shift 4
  status "$bin/$program" "$@"
  expect "$what" "$wanted" "$got" && says "$what" "$message"
}

# A dozen documents of 20 words: the checkpoints have 64 ids, and no tokenizer.
mkdir book
for ((i = 0; i < 12; ++i)); do
  for ((j = 0; j < 400; ++j)); do
    echo "once upon a time the $(((i + j) % 7)) cat sat on a mat and $((j % 5)) dogs ran"
  done >book/$i.txt
done
run 'a tokenizer' prepare tokenizer train --input book --kind words --output tokenizer.json

# published NAME: a folder as it would come from the hub
published() {
  cp -r "$golden/$1" "hub-$1" && rm "hub-$1/expected.safetensors" &&
    cp tokenizer.json "hub-$1/tokenizer.json"
}

# --- text, and what the model says of it
published qwen2
run 'import' model import hub-qwen2 --out runs/x
run 'prepare with the tokenizer of a run' prepare --input book --tokenizer runs/x --split 8,2,2 \
  --output corpora/book
measure=(--data corpora/book --lengths 32,128 --segments 20 --threads 1)
run 'eval' eval runs/x "${measure[@]}" --posenc "rope, rope_yarn(scale=2), self_extend, streaming"
for row in 'hub-qwen2 ' 'rope_yarn(scale=2, original_length=64, base=1e+06) (trained: hub-qwen2)' \
  'self_extend(window=32, original_length=64, base=1e+06) (trained: hub-qwen2)' \
  'streaming(recent=60, base=1e+06) (trained: hub-qwen2)'; do
  [[ $(grep -cF "$row" out) == 1 ]] || expect 'eval' "a row of $row" "$(cat out)"
done
again=(--prompt 'once upon a time' --tokens 20 --temperature 0 --threads 1)
run 'generate' generate runs/x "${again[@]}"
cp out continued
grep -q '; new: 20 tokens, ' said && grep -q '[a-z]' out || expect 'generate' '20 tokens' "$(cat out)"

# --- out and in again: the same numbers and the same text
run 'export' model export runs/x --out hf/x
run 'import of the export' model import hf/x --out runs/again --name hub-qwen2
run 'generate again' generate runs/again "${again[@]}"
expect 'generate again' "$(cat continued)" "$(cat out)"
for it in x again; do
  run "eval of $it" eval "runs/$it" "${measure[@]}"
  grep '^hub-qwen2 ' out >"numbers-$it" || expect "eval of $it" 'a row of its name' "$(cat out)"
done
expect 'eval of the export' "$(cat numbers-x)" "$(cat numbers-again)"

# --- training from its weights
more=(--init-from runs/x --data corpora/book --steps 3 --batch 2 --valid-every 0 --threads 1)
run 'train --init-from' train "${more[@]}" --out runs/full
run 'train --init-from --lora' train "${more[@]}" --lora rank=2 --out runs/lora
grep -q '^low-rank adapters: [1-9][0-9]* trained' out || expect 'train --lora' 'adapters' "$(cat out)"
for it in full lora; do run "eval of $it" eval "runs/$it" "${measure[@]}"; done
run 'train --merge-lora' train --merge-lora runs/lora --out runs/merged
run 'export of the merged run' model export runs/merged --out hf/merged
for call in '--resume runs/x' '--resume runs/x --data corpora/book' '--auto-resume --out runs/x --data corpora/book'; do
  refused "train $call" 2 'got one of `model import`, which has no training to resume; train --init-from runs/x' \
    train $call
done
refused 'train --init-from without text' 2 'expected --data CORPUS' train --init-from runs/x --steps 3
refused 'train --init-from without steps' 2 '--steps: expected a number' \
  train --init-from runs/x --data corpora/book
refused 'inspect batches' 2 'got one of `model import`, which has no training steps' \
  inspect batches runs/x --step 1

# --- what there is
run 'model list' model list runs
for it in again full lora merged x; do
  grep -q "^runs/$it  *finished" out || expect 'model list' "runs/$it, finished" "$(cat out)"
done
run 'model show' model show runs/x
grep -A 1 '^weights from' out | grep -qxF '  hub-qwen2 (qwen2, float16)' ||
  expect 'model show' 'the folder that it was imported from' "$(cat out)"
run 'model show of what was trained' model show runs/full
grep -A 1 '^weights from' out | grep -qxF '  step 0 of runs/x' ||
  expect 'model show of what was trained' 'weights from step 0 of runs/x' "$(cat out)"

# --- the experiments that change one model
experiments=(--base runs/x --dataset text=corpora/book --scale smoke --threads 1 --out sweeps/x)
run 'sweep run "context/*" --test-time' sweep run 'context/*' "${experiments[@]}" --test-time
grep -q ' 1 of 1 cells done' said || expect 'sweep run "context/*" --test-time' '1 of 1 cells' "$(cat said)"
run 'sweep run "context/*"' sweep run 'context/*' "${experiments[@]}"
grep -q ' 17 of 17 cells done' said || expect 'sweep run "context/*"' '17 of 17 cells' "$(cat said)"
run 'sweep status' sweep status sweeps/x
grep -qx 'context/modulo: 1 done, 0 running, 0 open, 0 failed' out ||
  expect 'sweep status' 'context/modulo: 1 done' "$(cat out)"
run 'sweep report' sweep report sweeps/x
grep -q '  C-MOD-1: ' out || expect 'sweep report' 'an answer to C-MOD-1' "$(cat out)"

# --- every other family is measured and continues a text
for path in "$golden"/*/; do
  name=$(basename "$path")
  [[ -e hub-$name ]] && continue
  published "$name"
  run "import of $name" model import "hub-$name" --out "runs/$name"
  run "eval of $name" eval "runs/$name" --data corpora/book --lengths 16,32 --segments 8 --threads 1
  grep -q "^hub-$name  *[0-9]" out || expect "eval of $name" 'perplexities' "$(cat out)"
  run "generate of $name" generate "runs/$name" "${again[@]}"
  grep -Eq '; new: (20 tokens, .*|[0-9]+ tokens, .*\(end of document\)$)' said ||
    expect "generate of $name" '20 tokens, or those of a document' "$(cat said)"
done
exit $failed
