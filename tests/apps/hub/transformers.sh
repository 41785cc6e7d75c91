#!/bin/bash
# transformers.sh MODEL TRAIN PREPARE HUB_LOGITS: runs of every exported form are opened by
# from_pretrained() of transformers, which gives our logits and the ids of our tokenizer. Exit status
# 77, saying why, where python3 has no torch or transformers.
set -u
export LC_ALL=C
model=$(realpath "$1") train=$(realpath "$2") prepare=$(realpath "$3") logits=$(realpath "$4")
source "$(dirname "$0")/../../support/expect.sh"
source "$(dirname "$0")/with_python.sh"
export HF_HUB_OFFLINE=1
with_python torch safetensors transformers

text_and_tokenizer "$prepare"
status "$prepare" --input text.txt --output corpus
expect 'prepare' 0 "$got"
status "$prepare" --input text.txt --output bpe --tokenizer bpe.json
expect 'prepare with a tokenizer of its own' 0 "$got"

# What runs have unless their options say otherwise.
cat >usual.conf <<'END'
preset = smoke
data = corpus
train-len = 64
batch = 2
n-layer = 3
n-head = 4
d-model = 64
d-ff = 256
steps = 4
lr = 0.02
threads = 1
END

# one NAME CLASS OPTIONS...: a run of these options; its class is recorded for the check.
mkdir runs hub
one() {
  local name=$1 class=$2
  shift 2
  status "$train" --config usual.conf --out "runs/$name" "$@"
  expect "train $name" 0 "$got"
  status "$model" export "runs/$name" --out "hub/$name"
  expect "export $name" 0 "$got"
  status "$logits" "runs/$name" "hub/$name/expected.safetensors"
  expect "logits $name" 0 "$got"
  echo "$class" >"hub/$name/class"
}
neox=GPTNeoXForCausalLM llama=LlamaForCausalLM mistral=MistralForCausalLM qwen2=Qwen2ForCausalLM
smollm3=SmolLM3ForCausalLM bloom=BloomForCausalLM mpt=MptForCausalLM gpt2=GPT2LMHeadModel
like_llama=llama,kv-heads=2
one rope $neox --posenc rope --data bpe
one rope_part $neox --posenc 'rope(rotary_pct=0.58, base=500)' --architecture parallel,mlp=relu \
  --d-model 200 --n-head 2
one rope_linear $neox --posenc 'rope_linear(scale=2)' --architecture tied,mlp=gelu_tanh
one rope_dynamic $neox --posenc 'rope_dynamic_ntk(factor=2, original_length=16)'
one rope_yarn $neox --posenc 'rope_yarn(scale=4, original_length=16, beta_fast=8)' \
  --architecture bias=mlp+norm
one rope_llama3 $neox --posenc 'rope_llama3(original_length=32)'
one no_encoding $neox --posenc none
one llama $llama --posenc rope --architecture $like_llama,head-dim=24,bias=mlp --data bpe
one llama_biases $llama --posenc 'rope(base=500)' --architecture $like_llama,bias=qkv+dense,tied
one llama_dynamic $llama --posenc 'rope_dynamic_ntk(factor=4, original_length=16)' \
  --architecture llama
one llama_longrope $llama --architecture llama --posenc \
  'rope_longrope([1, 2, 3, 4, 5, 6, 7, 8], short_factor=1.5, original_length=32, scale=2)'
one neox_longrope $neox --posenc 'rope_longrope(4, scale=4, original_length=80, rotary_pct=0.5)'
one mistral $mistral --posenc 'rope + window(9)' --architecture $like_llama,head-dim=24
one qwen2 $qwen2 --posenc 'rope + window(9)@1..2' --architecture $like_llama,bias=qkv
one smollm3 $smollm3 --posenc 'rope@0..1 + window(7)@1..2' --architecture $like_llama,bias=qkv+dense
one llama_none $smollm3 --posenc none --architecture $like_llama
one bloom $bloom --posenc alibi --architecture bloom,mlp=gelu_tanh --n-head 8
one bloom_untied $bloom --posenc alibi --architecture embedding-norm,mlp=gelu_tanh
one mpt $mpt --posenc 'alibi(slopes=geometric)' --architecture bias=none
one gpt2 $gpt2 --posenc 'learned_abs(max_positions=80)' --architecture gpt2
one gpt2_untied $gpt2 --posenc learned_abs --architecture mlp=gelu

# Adapters are exported within the weights, and a checkpoint is chosen by its step.
one lora $llama --init-from runs/llama --lora rank=4 --data bpe
status "$model" export runs/rope --out past --step 4
expect 'export --step' 0 "$got"
status cmp past/model.safetensors hub/rope/model.safetensors
expect 'the same step' 0 "$got"

cat >check.py <<'END'
import pathlib, sys, torch, transformers
from safetensors.torch import load_file

transformers.utils.logging.disable_progress_bar()
worst, n = 0.0, 0
for folder in sorted(pathlib.Path('hub').iterdir()):
    expected = load_file(folder / 'expected.safetensors')
    model, info = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    left = {key: value for key, value in info.items() if value}
    with torch.no_grad():
        logits = model.eval()(expected['ids'].long()[None]).logits[0]
    error = float((logits - expected['logits']).abs().max())
    worst, n = max(worst, error), n + 1
    kind, want = type(model).__name__, (folder / 'class').read_text().strip()
    print(folder.name, kind, error)
    if kind != want or left or not error <= 1e-4:
        sys.exit(f'{folder.name}: expected {want} with these logits, got {kind}, error {error}, {left}')
print('all', n, 'folders within', 1e-4 if worst <= 1e-4 else worst)

text = open('text.txt').read()[:500] + '  two  blanks \u00e9 <|endoftext|>'
ours = transformers.PreTrainedTokenizerFast(tokenizer_file='bpe.json')(text)['input_ids']
for name in ('rope', 'llama'):
    tokenizer = transformers.AutoTokenizer.from_pretrained(f'hub/{name}')
    if tokenizer(text)['input_ids'] != ours or tokenizer.decode(ours) != text:
        sys.exit(f'{name}: expected the ids of bpe.json, got {tokenizer(text)["input_ids"]}')
    made = transformers.AutoModelForCausalLM.from_pretrained(f'hub/{name}').generate(
        torch.tensor([ours[:9]]), max_new_tokens=20, do_sample=False)[0].tolist()
    if max(made) >= 300:
        sys.exit(f'{name}: expected no ids of padding rows, got {made}')
    print('tokenizer of', name, type(tokenizer).__name__, tokenizer.eos_token)
END
status "$python" check.py
expect 'what transformers computes' 0 "$got"
says 'every folder' 'all 22 folders within 0.0001'
tail -n 25 said
exit $failed
