#!/usr/bin/env bash
# completion.sh BIN: the completions that the programs in BIN print, tried in bash; zsh reads its own
# without an error, where it is installed.
set -u
bin=$1
failed=0

# completes WANTED WORD...: what the last word, maybe empty, becomes; of several the first three
completes() {
  local wanted=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "_farfield_$(basename "$1")" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  local got="${COMPREPLY[*]:0:3}"
  [[ $got == "$wanted" ]] && return
  echo "'$*': expected '$wanted', got '$got'" >&2
  failed=1
}

for program in train eval prepare inspect model generate; do
  script=$("$bin/$program" --completion bash) || failed=1
  eval "$script" || failed=1
  "$bin/$program" --completion zsh >"${TMPDIR:-/tmp}/_farfield-$$" || failed=1
  if [[ $(command -v zsh) ]]; then
    zsh -n "${TMPDIR:-/tmp}/_farfield-$$" || failed=1
  fi
done
rm -f "${TMPDIR:-/tmp}/_farfield-$$"

completes '--train-also --train-len' train --train-
completes 'adamw nag' train --steps 3 --optimizer ''
completes 'adamw' train --optimizer = a
completes 'adamw nag' train --optimizer =
completes '' train --steps ''
completes '' train --out ''
completes 'export import list' model ''
completes 'show' model sh
completes '--sort' model list --so
completes '--json' model show runs/a --js
completes '' model list ''
completes 'segments' "$bin/eval" compare --pairs seg
completes '--protocol-hash' "$bin/eval" compare --protocol-
completes 'compare' "$bin/eval" com
completes '' eval com # the shell's own
completes 'topic' prepare synthetic to
completes 'task tokenizer' prepare t
completes 'train' prepare tokenizer tr
completes '--distances' inspect encoding alibi --dis

"$bin/train" --completion fish >/dev/null 2>&1
[[ $? == 2 ]] || { echo "train --completion fish: expected status 2" >&2; failed=1; }
said=$("$bin/train" --completion 2>&1)
[[ $said == 'train: [config] --completion: expected one word, bash or zsh, got 0' ]] ||
  { echo "train --completion: got '$said'" >&2; failed=1; }
exit $failed
