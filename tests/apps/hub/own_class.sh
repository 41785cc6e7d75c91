#!/bin/bash
# own_class.sh MODEL TRAIN PREPARE OWN_CLASS_MODELS HUB_LOGITS: models of every encoding, exported
# with the code of our own class, are opened by from_pretrained() of transformers, which gives our
# logits in one pass, token by token and with padding, and generates our tokens. Exit status 77,
# saying why, where python3 has no torch or transformers.
set -u
export LC_ALL=C
model=$(realpath "$1") train=$(realpath "$2") prepare=$(realpath "$3") models=$(realpath "$4")
logits=$(realpath "$5") check=$(realpath "$(dirname "$0")/own_class.py")
source "$(dirname "$0")/../../support/expect.sh"
source "$(dirname "$0")/with_python.sh"
export HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1
with_python torch safetensors transformers
export HF_MODULES_CACHE=$folder/modules

status "$models" models
expect 'models of every encoding' 0 "$got"

# Trained runs, by the program.
text_and_tokenizer "$prepare"
status "$prepare" --input text.txt --output bpe --tokenizer bpe.json
expect 'prepare' 0 "$got"
cat >usual.conf <<'END'
preset = smoke
data = bpe
train-len = 64
batch = 2
steps = 4
lr = 0.02
threads = 1
END
mkdir runs hub
one() {
  local name=$1
  shift
  status "$train" --config usual.conf --out "runs/$name" "$@"
  expect "train $name" 0 "$got"
  status "$model" export "runs/$name" --out "hub/$name"
  expect "export $name" 0 "$got"
  says "export $name" FarfieldForCausalLM
  status "$logits" "runs/$name" "hub/$name/expected.safetensors"
  expect "logits $name" 0 "$got"
}
one kerple --posenc kerple_log
one swiglu --posenc 'sandwich + window(40)' --architecture llama,kv-heads=2,tied
one lora --posenc kerple_log --init-from runs/kerple --lora rank=4
status "$model" export runs/kerple --out hub/bf16 --dtype bf16
expect 'export --dtype bf16' 0 "$got"

status "$python" "$check" "$model"
expect 'what our class computes' 0 "$got"
says 'every folder' 'all is well'
tail -n 25 said
exit $failed
