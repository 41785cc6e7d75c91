#!/usr/bin/env bash
# Trains and measures models of the published size on a card that is available for some minutes:
# apps/card_run.sh --help
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
source apps/gpu_check/commands.sh

usage() {
  cat <<'TEXT'
usage: apps/card_run.sh --text PATH --tokenizer PATH [--dataset NAME] [--build DIR] [--out DIR]
                        [--minutes N] [--scale NAME] [--device NAME] [--skip-tests] [EXPERIMENT...]

Trains and measures models of the published size in calls of some minutes each. The machine needs an
NVIDIA card, but neither a network nor a package manager. A call runs the card's tests, then `sweep run`
for the rest of the time. It measures one model before it trains the next, and begins no model that it
cannot finish in time. The same call continues where the last one ended.

  EXPERIMENT...      experiments, as `sweep run` takes them (default: joint/table3 kerple/table3
                     sandwich/table3, which share most of their models)
  --text PATH        text to train on: a folder, JSON Lines, or a .tar.xz with a folder. The corpus is
                     named after it. third_party/debian_text.sh makes one
  --dataset NAME     the papers' data set that the text stands for: github (source code), arxiv (LaTeX)
                     or openwebtext2 (prose) (default: github)
  --tokenizer PATH   folder or file of the tokenizer: GPT-NeoX's for the published models, or bytes
  --build DIR        a finished build (default: build/cuda). third_party/gpu_bundle.sh --text packs one
                     together with text and tokenizer, which then are the defaults
  --out DIR          folder of the corpora, the sweep and results.tgz, which holds the logs and the
                     input of `sweep merge` (default: build/card_run)
  --minutes N        time limit of the whole call (default: 9, for systems that stop a command after ten)
  --scale NAME       smoke, tiny, small, brief or paper (default: brief)
  --device NAME      cuda, or cpu to try a call without a card (default: cuda)
  --skip-tests       run no tests, and save a minute at most for models
  --help             print this help

At home:  mkdir visit && tar -xzf results.tgz -C visit && build/cpu/bin/sweep merge FOLDER visit/sweep

Exit status: 0 all models are done, 75 some are left (run the same call again), 1 something failed,
2 usage error or no card.
TEXT
}

stop() {
  echo "card_run: $*" >&2
  exit 2
}

# ---- arguments

from=$OLDPWD  # paths are the caller's
path_of() { if [[ $1 == /* || $1 == bytes ]]; then echo "$1"; else echo "$from/$1"; fi; }
tree=build/cuda out=$PWD/build/card_run minutes=9 scale=brief device=cuda dataset=github text='' tokenizer=''
has_tests=true experiments=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --text | --tokenizer | --dataset | --build | --out | --minutes | --scale | --device)
      (($# > 1)) || stop "expected a value after $1" ;;&
    --text) text=$(path_of "$2"); shift 2 ;;
    --tokenizer) tokenizer=$(path_of "$2"); shift 2 ;;
    --dataset) dataset=$2; shift 2 ;;
    --build) tree=$(path_of "$2"); shift 2 ;;
    --out) out=$(path_of "$2"); shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    --scale) scale=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    --skip-tests) has_tests=false; shift ;;
    -*) usage >&2; stop "unknown argument '$1'" ;;
    *) experiments+=("$1"); shift ;;
  esac
done
((${#experiments[@]})) || experiments=(joint/table3 kerple/table3 sandwich/table3)
[[ $minutes =~ ^[1-9][0-9]{0,3}$ ]] || stop "expected --minutes from 1 on, got '$minutes'"
for program in prepare sweep; do
  [[ -x $tree/bin/$program ]] || stop "expected a built tree in '$tree', got none with bin/$program"
done
packed=$(dirname "$tree")  # of gpu_bundle.sh --text
if [[ ! $text ]]; then text=$(compgen -G "$packed/text/*" | head -n 1) || true; fi
if [[ ! $tokenizer && -e $packed/tokenizer ]]; then
  tokenizer=$packed/tokenizer
  files=("$tokenizer"/*)
  if ((${#files[@]} == 1)); then tokenizer=${files[0]}; fi  # a tokenizer.json by another name
fi
[[ $text && -e $text ]] || stop "expected --text with a folder or a file, got '$text'"
[[ $tokenizer == bytes || $tokenizer && -e $tokenizer ]] ||
  stop "expected --tokenizer with a folder, a file or bytes, got '$tokenizer'"

name=$(basename "$text")
name=${name%%.*}
if [[ $name == text || $name == topic || $name == induction ]]; then name+=-corpus; fi  # data sets of sweep
corpus=$out/corpora/$name has_corpus=false
# The origin of a corpus: hashes of the text (for a folder: of its names and sizes) and of the
# tokenizer.
origin() {
  if [[ -d $text ]]; then
    (cd "$text" && find -L . -type f -printf '%s %p\n' | sort | sha256sum)
  else
    sha256sum <"$text"
  fi
  if [[ $tokenizer == bytes ]]; then
    echo bytes
  else
    find -L "$tokenizer" -type f -print0 | sort -z | xargs -0 cat | sha256sum
  fi
}
if [[ -e $corpus/manifest.json ]]; then
  has_corpus=true
  [[ -e $corpus.origin && $(origin) == "$(<"$corpus.origin")" ]] ||
    stop "expected the text and tokenizer that $corpus was made from, got others; give another --out"
fi

machine=cpu
if [[ $device != cpu ]]; then
  no_card='expected an NVIDIA card with its driver (--device cpu needs none)'
  command -v nvidia-smi >/dev/null || stop "$no_card: got no nvidia-smi"
  machine=$(timeout 30 nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) ||
    stop "$no_card: nvidia-smi says '$(head -n 1 <<<"$machine")'"
  machine=$(head -n 1 <<<"$machine")
  find_library libcublasLt.so.13 cu13 "$tree/bin/sweep" ||
    stop "expected libcublasLt.so.13 of CUDA 13, found none; name its folder in LD_LIBRARY_PATH"
else
  has_tests=false
fi

# ---- results are packed whenever a model is done: who ends this call loses none

SECONDS=0
end=$((minutes * 60))
readonly stopping_s=25  # a stopped worker finishes its step and writes a checkpoint; packing
mkdir -p "$out/log"
echo "$machine" | tee "$out/log/machine.txt"
sweep=$out/sweep pids=()
if [[ $device != cpu ]]; then
  nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu --format=csv -l 5 >>"$out/log/clocks.txt" 2>&1 </dev/null &
  pids+=($!)
fi
pack() {
  local what=(log)
  if [[ -e $sweep/sweep.json ]]; then what+=(sweep/sweep.json sweep/results sweep/logs); fi
  tar -C "$out" -czf "$out/results.tgz.new" "${what[@]}" 2>/dev/null && mv "$out/results.tgz.new" "$out/results.tgz"
}
pack_when_done() {
  local before='' now
  while sleep 5; do
    now=$(ls -l --time-style=full-iso "$sweep/results" 2>/dev/null) || continue
    if [[ $now != "$before" ]]; then pack || true; fi
    before=$now
  done
}
pack_when_done &
pids+=($!)
finish() {
  local status=$?
  trap '' INT TERM
  if ((${#pids[@]})); then kill "${pids[@]}" 2>/dev/null || true; fi
  pack || true
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# in_background COMMAND...: so that a signal need not wait for it. Its status.
in_background() {
  "$@" &
  local pid=$! status=0
  pids+=("$pid")
  wait "$pid" || status=$?
  return $status
}

# ---- text becomes tokens while the card is tested

make_corpus() {
  if $has_corpus; then echo "the corpus of an earlier call: $corpus"; return; fi
  local source=$text
  if [[ $text == *.tar.xz ]]; then
    source=$out/text
    rm -rf "$source"
    mkdir -p "$source"
    if command -v xz >/dev/null; then tar -C "$source" -xJf "$text"; else python3 -m tarfile -e "$text" "$source"; fi || return
  fi
  mkdir -p "$out/corpora"
  "${ours[@]}" "$tree/bin/prepare" --input "$source" --tokenizer "$tokenizer" --split 94,1,5 --output "$corpus" || return
  origin >"$corpus.origin" || return
  if [[ $text == *.tar.xz ]]; then rm -rf "$source"; fi
}
make_corpus >"$out/log/prepare.txt" 2>&1 &
preparing=$!
pids+=("$preparing")
is_failed=false
if $has_tests; then
  in_background apps/gpu_check.sh --only tests --minutes 1 --build "$tree" --out "$out/tests" >"$out/log/tests.txt" 2>&1 ||
    is_failed=true
  grep -E '^tests ' "$out/log/tests.txt" | head -n 1 || tail -n 3 "$out/log/tests.txt"
fi
status=0
wait "$preparing" || status=$?
if ((status)); then
  tail -n 5 "$out/log/prepare.txt" >&2
  echo "card_run: prepare failed with status $status: $out/log/prepare.txt" >&2
  exit 1
fi
tail -n 2 "$out/log/prepare.txt"
echo "$SECONDS s: tests and text are done"

# ---- models, as many as there is time for

left=$((end - SECONDS - stopping_s))
((left > 0)) || { echo "card_run: no time is left for a model; --minutes" >&2; exit 1; }
in_background "${ours[@]}" "$tree/bin/sweep" run "${experiments[@]}" --scale "$scale" --device "$device" \
  --dataset "$dataset=$corpus" --on "$dataset" --time-limit "${left}s" --out "$sweep" \
  > >(tee -a "$out/log/sweep.txt") 2>&1 || status=$?
"${ours[@]}" "$tree/bin/sweep" status "$sweep" 2>&1 | tee "$out/log/status.txt" || true
if timeout 20 "${ours[@]}" "$tree/bin/sweep" report "$sweep" --out "$out/log/report" >"$out/log/verdicts.txt" 2>&1; then
  rm -rf "$out/log/report/figures"
  awk '/^\*\*perplexity of the last token on/ {on = 1} on && /^$/ {n += 1} n > 1 {exit} on' "$out/log/report/report.md"
fi
echo "$SECONDS s in all; results: $out/results.tgz"
if ((status == 0)) && $is_failed; then status=1; fi
exit $status
