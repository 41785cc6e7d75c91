#!/usr/bin/env bash
# Runs what the documentation tells a reader to run: run_readme.sh BIN FILE...
#
# Every block fenced as `sh` runs in the order in which it stands, in an empty folder where
# build/cpu/bin is the folder BIN; it has to exit with status 0. A block fenced as `text` right
# behind it is what it prints: each of its lines has to come, with any numbers; `...` stands for
# lines left out. A block fenced as `sh not-run` needs what a test has not: a build, a card, minutes,
# files of others (prose.jsonl.zst); `python` needs packages, `cpp` is compiled and run by a test of
# its own (tests/samples.cmake). Commands elsewhere are refused, since nobody would run them.
set -euo pipefail
source "$(dirname "$(readlink -f "$0")")/output.sh"

bin=$(readlink -f "$1")
shift
files=()
for file in "$@"; do files+=("$(readlink -f "$file")"); done
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir -p "$here/home/build/cpu"
ln -s "$bin" "$here/home/build/cpu/bin"

# What a block that is not run may be about.
readonly not_run='^(#!/bin/bash|mpirun |torchrun |docker |#SBATCH |srun build/cuda|\./demo|\./check|\.ci/run|cmake |ctest |build/cuda|apps/gpu_check|third_party/(debian_text|gpu_bundle|packages)|tar -xJf (build/)?gpu_bundle|tar -xzf visit/|bench |lm_eval |build/cpu/bin/bench |build/cpu/bin/[a-z]+ .*(prose|SmolLM2|smollm2|sweeps/(mine|small)))'

failed() {
  echo "readme: $*" >&2
  exit 1
}

run_block() {  # FILE LINE
  n_blocks=$((n_blocks + 1))
  echo "readme: $1: line $2: $(head -n 1 "$here/block")"
  (cd "$here/home" && bash -euo pipefail "$here/block") </dev/null >"$here/output" 2>&1 || {
    local status=$?
    cat "$here/output" >&2
    failed "$1: line $2: expected a block that exits with status 0, got $status"
  }
}

n_blocks=0
for file in "${files[@]}"; do
  name=$(basename "$(dirname "$file")")/$(basename "$file")
  fence='' number=0 begin=0 is_after_run=false
  while IFS= read -r line || [[ -n $line ]]; do
    number=$((number + 1))
    if [[ -z $fence && $line == '```'* ]]; then
      fence=${line#'```'} begin=$number
      [[ $fence == sh || $fence == 'sh not-run' || $fence == text || $fence == python ||
        $fence == cpp ]] ||
        failed "$name: line $number: expected a block of sh, sh not-run, python, cpp or text, got '$fence'"
      : >"$here/block"
    elif [[ $line == '```' ]]; then
      case $fence in
        sh)
          run_block "$name" "$begin"
          is_after_run=true
          ;;
        'sh not-run')
          while IFS= read -r command; do
            [[ $command =~ $not_run ]] ||
              failed "$name: line $begin: expected a block that a test cannot run, got '$command'"
          done <"$here/block"
          is_after_run=false
          ;;
        python | cpp) is_after_run=false ;;
        text)
          mv "$here/block" "$here/text"
          if $is_after_run; then check_output "$name: line $begin"; fi
          ;;
      esac
      fence=''
    elif [[ -n $fence ]]; then
      printf '%s\n' "$line" >>"$here/block"
    else
      [[ $line =~ ^\ {4}(\$ |build/|\./|inspect |eval |train |prepare |bench ) ]] &&
        failed "$name: line $number: expected commands in a fenced block, got '$line'"
      [[ -z $line ]] || is_after_run=false
    fi
  done <"$file"
  [[ -z $fence ]] || failed "$name: line $begin: expected the end of this block, got that of the file"
done
((n_blocks > 0)) || failed "expected blocks fenced as sh, got none"
echo "readme: $n_blocks blocks ran"
