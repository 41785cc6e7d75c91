#!/bin/bash
# llama_cpp.sh MODEL TRAIN PREPARE GENERATE HUB_LOGITS: llama.cpp opens a GGUF file of every
# architecture that we write, and gives our logits, our greedy text and the ids of our tokenizer.
# Exit status 77, saying why, where python3 has no llama_cpp (llama-cpp-python on PyPI) or gguf.
set -u
export LC_ALL=C
model=$(realpath "$1") train=$(realpath "$2") prepare=$(realpath "$3") generate=$(realpath "$4")
logits=$(realpath "$5")
source "$(dirname "$0")/../../support/expect.sh"
source "$(dirname "$0")/with_python.sh"
with_python gguf llama_cpp safetensors

text_and_tokenizer "$prepare"
{
  head -c 1500 text.txt
  printf "it's  3.14 or 12345678 \t\n\n   \xc3\xa9t\xc3\xa9, \xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x99\x82 'LL we'll\r\n"
} >sample.txt
# The same tokens and merges behind the other ways of cutting text that llama.cpp knows.
cat >pipelines.py <<'END'
import json
regex = lambda text: {'type': 'Split', 'pattern': {'Regex': text}, 'behavior': 'Isolated', 'invert': False}
level = lambda use: {'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': True, 'use_regex': use}
lines = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|NUMBER| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
sequence = lambda first, use: {'type': 'Sequence', 'pretokenizers': [first, level(use)]}
for name, steps, ignores in (
    ('smollm', sequence({'type': 'Digits', 'individual_digits': True}, True), False),
    ('qwen2', sequence(regex(lines.replace('NUMBER', r'\p{N}')), False), False),
    ('llama-bpe', sequence(regex(lines.replace('NUMBER', r'\p{N}{1,3}')), False), True),
    ('dbrx', sequence(regex(lines.replace('NUMBER', r'\p{N}{1,3}')), False), False)):
    file = json.load(open('bpe.json'))
    file['pre_tokenizer'], file['model']['ignore_merges'] = steps, ignores
    json.dump(file, open(name + '.json', 'w'))
END
status "$python" pipelines.py
expect 'tokenizers of other pipelines' 0 "$got"
status "$prepare" --input text.txt --output corpora/bytes
expect 'prepare' 0 "$got"
cp bpe.json gpt-2.json
for name in gpt-2 smollm qwen2 llama-bpe dbrx; do
  status "$prepare" --input text.txt --output "corpora/$name" --tokenizer "$name.json"
  expect "prepare for $name" 0 "$got"
done

# What runs have unless their options say otherwise.
cat >usual.conf <<'END'
preset = smoke
train-len = 64
batch = 8
n-layer = 3
n-head = 4
d-model = 64
d-ff = 256
steps = 40
lr = 0.01
threads = 1
END

# one NAME ARCHITECTURE CORPUS OPTIONS...: a run of these options, and what is expected of it.
mkdir runs files
one() {
  local name=$1 architecture=$2 corpus=$3
  shift 3
  status "$train" --config usual.conf --data "corpora/$corpus" --out "runs/$name" "$@"
  expect "train $name" 0 "$got"
  status "$model" export "runs/$name" --out "files/$name.gguf" --format gguf
  expect "export $name" 0 "$got"
  status "$logits" "runs/$name" "files/$name.safetensors" sample.txt
  expect "logits $name" 0 "$got"
  "$generate" "runs/$name" --prompt 'the 12 words' --tokens 100 --past-end --threads 1 --quiet \
    >"files/$name.txt" || expect "generate $name" 0 1
  echo "$architecture $corpus" >"files/$name.kind"
}
like_llama=llama,kv-heads=2
one llama llama gpt-2 --posenc rope --architecture $like_llama,head-dim=24,bias=mlp
one llama_biases llama smollm --posenc 'rope(base=500)' --architecture $like_llama,bias=qkv+dense,tied
one llama_linear llama qwen2 --posenc 'rope_linear(scale=2)' --architecture $like_llama
one llama_yarn llama llama-bpe --posenc 'rope_yarn(scale=4, original_length=16)' \
  --architecture $like_llama
one llama3 llama dbrx --posenc 'rope_llama3(original_length=32)' --architecture $like_llama
one qwen2 qwen2 bytes --posenc rope --architecture $like_llama,bias=qkv
one smollm3 smollm3 bytes --posenc 'rope@0..2' --architecture $like_llama --n-layer 4
one neox gptneox gpt-2 --posenc rope
one neox_parallel gptneox bytes --posenc 'rope(rotary_pct=0.5, base=500)' \
  --architecture parallel,tied,mlp=gelu_tanh
one neox_yarn gptneox bytes --posenc 'rope_yarn(scale=4, original_length=16)'

cat >check.py <<'END'
import pathlib, sys, gguf, llama_cpp, numpy
from safetensors.numpy import load_file

# llama.cpp has a table of GELU in half precision.
bounds = {'gptneox': 5e-3}
text = open('sample.txt', 'rb').read()
worst, n = {}, 0
for file in sorted(pathlib.Path('files').glob('*.gguf')):
    architecture, corpus = file.with_suffix('.kind').read_text().split()
    reader = gguf.GGUFReader(file)
    value = lambda key: reader.fields[key].contents()
    said = value('general.architecture'), value('tokenizer.ggml.pre')
    if said != (architecture, 'gpt-2' if corpus == 'bytes' else corpus):
        sys.exit(f'{file.stem}: expected {architecture} and {corpus}, got {said}')
    expected = load_file(file.with_suffix('.safetensors'))
    model = llama_cpp.Llama(str(file), n_ctx=256, n_threads=1, n_threads_batch=1, logits_all=True,
                            type_k=0, type_v=0, verbose=False)
    ids, want = model.tokenize(text, add_bos=False), expected['ids'].tolist()
    if ids != want:
        sys.exit(f'{file.stem}: expected the ids {want}, got {ids}')
    rows = len(expected['logits'])
    model.eval(ids[:rows])
    error = float(numpy.abs(model.scores[:rows] - expected['logits']).max())
    model.reset()
    model.eval(model.tokenize(b'the 12 words', add_bos=False))
    made = []
    for _ in range(100):
        made.append(int(numpy.argmax(model.scores[model.n_tokens - 1])))
        model.eval(made[-1:])
    theirs, ours = model.detokenize(made), file.with_suffix('.txt').read_bytes()
    print(file.stem, *said, len(ids), error, theirs[:40])
    if not error <= bounds.get(architecture, 1e-4):
        sys.exit(f'{file.stem}: expected our logits, got {error}')
    if theirs.strip() != ours.strip():
        sys.exit(f'{file.stem}: expected the text {ours}, got {theirs}')
    worst[architecture], n = max(worst.get(architecture, 0), error), n + 1
print('all', n, 'files as ours', worst)
END
status "$python" check.py
expect 'what llama.cpp computes' 0 "$got"
says 'every file' 'all 10 files as ours'
tail -n 25 said
exit $failed
