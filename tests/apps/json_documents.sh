#!/usr/bin/env bash
# json_documents.sh BIN JSON_ROWS RESULTS: every command that prints a table prints it with --json,
# too: one document with the same rows (json_rows.cpp). A command without --json is in the list of
# those that print none, so that a new one has to say which it is.
set -u
export LC_ALL=C
bin=$(realpath "$1") rows=$(realpath "$2") results=$(realpath "$3")
source "$(dirname "$0")/../support/expect.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# What prints lines of a log, a text, a list of files or commands, and no table.
without="
train
generate
inspect attention
model export
model import
prepare tokenizer train
sweep cell
sweep run
"
tested=

# same FORM COMMAND [WORD...]: with --json it prints the rows that it prints as text, and with a
# form of csv as CSV.
same() {
  local form=$1 command=$2 program=${2%% *} words=() as_text=()
  [[ $command == *' '* ]] && words=(${command#* })
  shift 2
  [[ $form == csv ]] && as_text=(--csv)
  "$bin/$program" "${words[@]}" "$@" "${as_text[@]}" >text 2>said ||
    { expect "$command" 0 $?; return; }
  "$bin/$program" "${words[@]}" "$@" --json >document 2>said ||
    { expect "$command --json" 0 $?; return; }
  "$rows" "$form" document text >said 2>&1
  expect "$command $* --json" 0 $?
  tested+="$command"$'\n'
}

i=0
while ((i++ < 3000)); do echo "the $i words of line $((i * i % 97)) follow one another"; done >text.txt
same columns prepare --input text.txt --output corpus --force
same columns 'prepare convert' corpus --to nanogpt --output converted --force
for kind in topic induction; do
  same columns "prepare synthetic $kind" --output $kind --documents 8,4,4 --document-tokens 64 --force
done
same lines 'prepare task' --list
same lines 'prepare tokenizer show' bytes --text 'some text'

same csv 'inspect encoding' alibi kerple_log --distances 0:9 --n-head 2
same csv 'inspect encoding' rope xpos --rotation
same csv 'inspect encoding' alibi rerope --positions --length 32
same csv 'inspect encoding' kerple_log t5 --parameters
same csv 'inspect encoding' --list
same csv 'inspect encoding' --matrix
same columns 'inspect data' corpus

"$bin/train" --preset smoke --n-layer 1 --posenc rope --data corpus --train-len 32 --batch 2 --steps 3 \
  --threads 1 --valid-every 0 --out runs/it >/dev/null 2>said
expect 'train' 0 $?
same columns 'inspect batches' runs/it --step 1
same results eval runs/it --lengths 32,64 --segments 8 --threads 1
same lines eval --list
same parts 'eval compare' runs/it
same runs 'model list' runs
same parts 'model show' runs/it

smoke=(--preset smoke --rounds 1 --threads 1)
same columns 'bench attention' --lengths 16,32 --posenc alibi,none --rounds 1 --threads 1
same columns 'bench bandwidth' --rows 16 --width 8 --vocab-size 11 --weights 100 --rounds 1 --threads 1
same columns 'bench forward' --lengths 16 --posenc alibi,rope "${smoke[@]}"
same columns 'bench generate' --preset smoke --prompt 8 --tokens 3 --rounds 1 --threads 1
same columns 'bench matmul' "${smoke[@]}"
same columns 'bench matmul' --libraries "${smoke[@]}"
same columns 'bench roofline'
same columns 'bench scaling' --compute-ms 100 --preset smoke --processes 1,2
same columns 'bench step' --posenc alibi,none --batch 1 --train-len 32 --parts "${smoke[@]}"
same columns 'bench tokenize' --input text.txt --rounds 1 --threads 1

same lines 'sweep list' 'context/*' --scale smoke
same lines 'sweep status' "$results"
same lines 'sweep report' "$results" --out report
same lines 'sweep search' --candidates 3 --scale smoke --dry-run --out search
same lines 'sweep merge' merged "$results/brief"

same lines demo --input text.txt --out demo --preset smoke --encodings alibi,rope --train-len 16 --steps 2 \
  --lengths 16,32 --segments 4 --threads 1

# --- two forms at once are refused, and say nothing on stdout
for words in 'bench roofline --markdown' 'inspect encoding alibi --csv' 'inspect encoding --list --markdown' \
  'inspect batches runs/it --step 1 --csv' 'prepare task --list --markdown' 'eval --list --markdown' \
  'prepare task copy'; do
  "$bin/"$words --json >document 2>said
  expect "$words --json" '2 0' "$? $(wc -c <document | tr -d ' ')"
  says "$words --json" '--json: expected '
done

# --- every command is in one of the two lists
commands() { # PROGRAM [COMMAND...]: those that have options, one a line
  local words word
  words=$("$bin/$1" "${@:2}" --completion words | cut -f 1)
  if grep -qx -e --quiet <<<"$words"; then echo "$*"; fi
  for word in $(grep -v '^-' <<<"$words"); do commands "$@" "$word"; done
}
for program in bench demo eval generate inspect model prepare sweep train; do
  while read -r command; do
    has=no
    "$bin/"$command --completion words | grep -q '^--json' && has=yes
    case $has in
      yes) grep -qxF "$command" <<<"$tested" || expect "$command --json" 'a test' 'none' ;;
      no) grep -qxF "$command" <<<"$without" ||
        expect "$command" '--json, or to be listed as without a table' 'neither' ;;
    esac
  done < <(commands "$program")
done
exit $failed
