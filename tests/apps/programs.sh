#!/bin/sh
# programs.sh TRAIN PREPARE INSPECT GENERATE MODEL: what the programs themselves do with their streams, their place
# and their signals. Exit status 0 when all of it is as said.
set -u
train=$1 prepare=$2 inspect=$3 generate=$4 model=$5
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

# expect WHAT WANTED GOT
expect() {
  [ "$2" = "$3" ] && return
  echo "$1: expected '$2', got '$3'" >&2
  failed=1
}
# status COMMAND...: its exit status, in $got; what it said on stderr, in the file said
status() {
  "$@" 2>said
  got=$?
}

# --- standard output
if [ -c /dev/full ]; then
  for program in "$train" "$prepare" "$inspect" "$generate" "$model"; do
    status "$program" --help >/dev/full
    expect "$program --help >/dev/full" 3 "$got"
    grep -q 'standard output: cannot write: No space left on device' said || failed=1
  done
  status "$inspect" encoding alibi >/dev/full
  expect 'inspect >/dev/full' 3 "$got"
else
  echo 'SKIPPED: there is no /dev/full' >&2
fi
status "$inspect" encoding alibi >&-
expect 'inspect >&-' 3 "$got"
status "$inspect" encoding alibi --svg no/such/folder/a.svg >/dev/null
expect 'inspect --svg in no folder' 3 "$got"

# --- the number of threads
for threads in x -1 0 4294967297; do
  status env FARFIELD_THREADS=$threads "$inspect" encoding alibi --distances 0:2 >/dev/null
  expect "FARFIELD_THREADS=$threads inspect" 2 "$got"
done

# --- a run
i=0
while [ $i -lt 3000 ]; do
  echo "the $i words of line $((i * i % 97)) follow one another"
  i=$((i + 1))
done >text.txt
mkdir corpus.tmp-99999999
status "$prepare" --input text.txt --output corpus >/dev/null
expect 'prepare' 0 "$got"
expect 'what a killed prepare left' 'corpus said text.txt' "$(echo *)"
small='--preset smoke --posenc alibi --data corpus --train-len 32 --batch 2 --threads 2 --valid-every 0'
status "$train" $small --steps 1 --out closed <&- >&-  # no file may become its output
expect 'train >&-' 3 "$got"
case $(cat closed/lock) in *[!0-9]*) expect 'lock of train >&-' 'a number' "$(cat closed/lock)" ;; esac
status "$train" --resume closed >/dev/null
expect 'train --resume of a finished run' 0 "$got"

# --- a text that is continued
text=$(printf 'the 7 words of ' | "$generate" closed --prompt - --tokens 30 --past-end --quiet 2>said)
expect 'generate --prompt - --quiet' '0 0' "$? $(wc -c <said | tr -d ' ')"
printf 'the 7 words of ' >prompt
expect 'generate --prompt @FILE' "$text" \
  "$("$generate" closed --prompt @prompt --tokens 30 --past-end --threads 1 2>said)"
grep -q '^prompt: 15 tokens, .*; new: 30 tokens, .* (all of --tokens)$' said ||
  expect 'what generate says' 'tokens and speeds' "$(cat said)"
if [ -c /dev/full ]; then
  status "$generate" closed --prompt the --tokens 4000000 --past-end >/dev/full
  expect 'generate >/dev/full' 3 "$got"
fi
# A reader that leaves ends it, long before all tokens; what it read came while more was made.
status "$generate" closed --prompt the --tokens 4000000 --past-end | head -c 3 >out
expect 'generate | head -c 3' 3 "$(wc -c <out | tr -d ' ')"
for words in 'closed --top-k 3' 'closed --tokens 0' '' 'closed --posenc nothing'; do
  status "$generate" $words >out
  expect "generate $words" '2 0' "$got $(wc -c <out | tr -d ' ')"
done
for words in nowhere corpus 'closed --prompt @nowhere' 'closed --step 77'; do
  status "$generate" $words >out
  expect "generate $words" '3 0' "$got $(wc -c <out | tr -d ' ')"
done

# --- what a list says of runs
state() { # FOLDER: its state in the list
  "$model" list . --json | tr -d ' \n' | sed 's/.*"run":"'"$1"'","state":"\([a-z]*\)".*/\1/'
}
expect 'state of a finished run' finished "$(state closed)"
"$train" $small --steps 100000000 --out busy >out 2>&1 &
pid=$!
until grep -q '^step ' out; do sleep 0.05; done
expect 'state of a run at work' running "$(state busy)"
kill -TERM $pid
wait $pid
expect 'train of a run that was listed' 75 $?
expect 'state of a stopped run' stopped "$(state busy)"
rm busy/checkpoints/*/state.json
status "$model" list . >out
expect 'model list with a damaged run' 0 "$got"
grep -q '^busy  *damaged  *\[' out || expect 'a damaged run' 'in the list' "$(cat out)"
status "$model" show busy >out
expect 'model show of a damaged run' '3 0' "$got $(wc -c <out | tr -d ' ')"
status "$model" list corpus >out
expect 'model list without runs' '0 0 no runs below corpus' "$got $(wc -c <out | tr -d ' ') $(cat said)"
for words in 'list' 'list . --sort nothing' 'show' 'lst .' ''; do
  status "$model" $words >out
  expect "model $words" '2 0' "$got $(wc -c <out | tr -d ' ')"
done
status "$model" list nowhere >out
expect 'model list nowhere' 3 "$got"
rm -r busy

# --- one command that starts and resumes
for step in 1 2; do
  status "$train" $small --steps 3 --auto-resume --out auto --stop-after $step >out
  expect "train --auto-resume --stop-after $step" 75 "$got"
done
grep -q 'resuming at step 1 in auto' out || expect 'the second --auto-resume' 'resuming at step 1' "$(cat out)"
status "$train" $small --steps 3 --requeue --out auto >out
expect 'train --requeue without a signal' 0 "$got"
status "$train" $small --steps 3 --requeue --out auto >out
expect 'train --requeue of a finished run' 0 "$got"
status "$train" $small --steps 4 --auto-resume --out auto >out
expect 'train --auto-resume with other steps' 2 "$got"
status "$train" $small --steps 3 --auto-resume --out corpus >out
expect 'train --auto-resume of what is no run' 3 "$got"
env -u SLURM_JOB_ID "$train" $small --steps 100000000 --requeue --out loop >out 2>&1 &
pid=$!
until grep -q '^step ' out; do sleep 0.05; done
kill -USR1 $pid
wait $pid
expect 'train --requeue without Slurm, signalled' 75 $?
grep -q 'not in a Slurm job' out || expect 'train --requeue without Slurm' 'why not' "$(cat out)"

# --- SIGTERM at any moment of the start: a run to resume with status 75, or nothing at all.
for delay in 0 0.01 0.02 0.04 0.08 0.15; do
  rm -rf run
  "$train" $small --steps 100000000 --out run >out 2>&1 &
  pid=$!
  sleep $delay
  kill -TERM $pid
  wait $pid
  got=$?
  if [ -d run ]; then
    expect "train, SIGTERM after $delay s" 75 "$got"
    status "$train" --resume run --stop-after 1 >/dev/null
    expect "resuming it" 75 "$got"
  else
    # 143: before the program could ask for signals
    case $got in 75 | 143) ;; *) expect "train, SIGTERM after $delay s, nothing there" 75 "$got" ;; esac
  fi
  expect "what SIGTERM after $delay s left" '' "$(ls -d run.tmp-* 2>/dev/null)"
done

# --- damage to a run: status 3, the file named, no raw bytes; a mistake of the caller's: 2
status "$train" $small --steps 4 --log-every 1 --out whole --stop-after 2 >/dev/null
expect 'train --stop-after 2' 75 "$got"
hurt() { # a fresh copy to damage
  rm -rf hurt
  cp -r whole hurt
}
refused() { # FILE: it is damaged
  status "$train" --resume hurt >/dev/null
  expect "train --resume, damaged $1" 3 "$got"
  grep -q "hurt/$1" said || expect "what is said of a damaged $1" 'its name' "$(cat said)"
  LC_ALL=C grep -q '[[:cntrl:]]' said && expect "control characters, damaged $1" none some
}
brackets() { head -c "$1" /dev/zero | tr '\0' "$2"; }
hurt && printf 'se\033[2Jed\377 = 1\n' >>hurt/config.conf && refused config.conf
hurt && echo no-setting >>hurt/config.conf && refused config.conf
hurt && sed 's/^lr = .*/lr = -1/' whole/config.conf >hurt/config.conf && refused config.conf
hurt && sed 's/^seed = 1$/seed = 2/' whole/config.conf >hurt/config.conf && refused config.conf
hurt && grep -v '^batch =' whole/config.conf >hurt/config.conf && refused config.conf
hurt && sed 's/^1,/2,/' whole/metrics.csv >hurt/metrics.csv && refused metrics.csv
state=checkpoints/step-00000002/state.json
hurt && { printf '{"hash":"x","a":' && brackets 100000 '[' && brackets 100000 ']' && echo '}'; } \
  >hurt/$state && refused $state
hurt && { printf '{"resumed":[],"a":' && brackets 20000 '[' && brackets 20000 ']' && echo '}'; } \
  >hurt/manifest.json && refused manifest.json
expect 'bytes of a manifest of 20000 brackets' 40020 "$(wc -c <hurt/manifest.json | tr -d ' ')"
hurt
status "$train" --resume hurt --lr -1 >/dev/null
expect 'train --resume --lr -1' 2 "$got"
status "$train" --resume hurt >/dev/null
expect 'train --resume' 0 "$got"
exit $failed
