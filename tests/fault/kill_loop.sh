#!/bin/bash
# kill_loop.sh TRAIN PREPARE [N [SEED]]: kills runs (SIGKILL) at N random moments (20), resumes them
# each time as a user would, and compares the result bit for bit with an undisturbed run. Kills fall
# into the start, into steps and into the writing of checkpoints; if a run ends before N kills,
# another one begins. After each kill every existing checkpoint must equal the undisturbed run's,
# and no more may be lost than the steps since the last checkpoint.
#
# LAUNCHER in the environment stands before each call of TRAIN; a kill is of its whole process group.
# Exit status 0 when all of it is as said; else 1, and the folder stays.
set -um  # each call in a process group of its own
shopt -s nullglob
export LC_ALL=C
train=$(realpath "$1") prepare=$(realpath "$2") n=${3:-20} seed=${4:-$EPOCHSECONDS}
read -ra launcher <<<"${LAUNCHER:-}"
source "$(dirname "$0")/small_run.sh"
folder=$(mktemp -d) || exit 1
cd "$folder" || exit 1
pid=
trap '[[ $pid ]] && kill -KILL -- "-$pid" 2>/dev/null; exit 130' INT TERM

failed() {
  echo "kill_loop: seed $seed, kill $kills of $n, run $runs: $*; what was left is in $folder" >&2
  [[ -f said ]] && tail -n 3 said >&2
  exit 1
}

mkfifo never && exec 9<>never
pause() { read -rt "$1" -u 9; }  # of microseconds too, without a process
below() { r=$(((RANDOM << 15 | RANDOM) % $1)); }
RANDOM=$seed

# call ARGUMENT...: train in the background; what it says is in the file said
call() {
  "${launcher[@]}" "$train" "$@" >said 2>&1 9>&- &
  pid=$!
}
# Not by kill -0, which finds a process that has ended until it is waited for.
is_running() {
  local stat
  { read -r stat <"/proc/$pid/stat"; } 2>/dev/null && [[ $stat != *') Z '* ]]
}
# Whether a process of the group still runs. Processes whose parent was killed too may stay for
# seconds, until the system's first process reaps them. The first thread of a process ends (Z)
# before other threads that still write, and keep the run's lock.
is_group_running() {
  local file stat fields
  kill -0 -- "-$pid" 2>/dev/null || return 1
  for file in /proc/[0-9]*/stat; do
    { read -r stat <"$file"; } 2>/dev/null || continue
    read -ra fields <<<"${stat##*) }"  # state, parent, group, ...; the 18th: threads
    [[ ${fields[2]} == "$pid" ]] || continue
    [[ ${fields[0]} != [ZX] ]] || ((fields[17] > 1)) && return
  done
  return 1
}
# The exit status of the call in $got, once nobody of its group is left.
await() {
  wait "$pid" 2>/dev/null  # where bash says who was killed
  got=$?
  while is_group_running; do pause 0.001; done
  pid=
}

# What is being written, or was when its writer was killed, in $left.
look_for_leftovers() {
  left=({run,run/*,run/checkpoints/*,run/checkpoints/*/*}.{tmp,old}-*)
}
# The newest checkpoint in $newest, rows of the metrics in $rows, the step of the last one in $logged.
look_at_run() {
  local all=(run/checkpoints/step-????????)
  newest=-1 logged=0 rows=()
  [[ -d run ]] || return
  [[ ${#all[@]} -gt 0 ]] && newest=$((10#${all[-1]##*step-}))
  mapfile -t rows <run/metrics.csv
  [[ ${rows[-1]} == step,* ]] || logged=${rows[-1]%%,*}
}

compare_checkpoints() {
  local made
  for made in run/checkpoints/step-????????; do
    same_checkpoint "whole/checkpoints/${made##*/}" "$made" ||
      failed "$made is not that of the undisturbed run: $(<difference)"
  done
}
# Of a run that is finished.
compare_run() {
  look_for_leftovers
  [[ ${#left[@]} == 0 ]] || failed "left behind: ${left[*]}"
  [[ $(ls run) == "$(ls whole)" ]] || failed "expected the files $(ls -m whole), got $(ls -m run)"
  diff -I '^keep = ' whole/config.conf run/config.conf >difference || failed "config.conf differs"
  compare_checkpoints
  look_at_run
  ((newest == last)) || failed "expected a checkpoint of step $last, got $newest"
  same_rows whole run || failed 'the losses of metrics.csv are not those of the undisturbed run'
}

# kill_at_random: waits for a moment and kills the call, if it still runs then.
kill_at_random() {
  local wait_us kind=$((RANDOM % 3)) before
  below 1000
  case $kind in
    0) wait_us=$((whole_us / 10 * r / 1000)) ;;  # mostly in the start
    1) wait_us=$((whole_us / 2 * r / 1000)) ;;
    2)  # from the beginning of a save on, soon after it more often than later
      wait_us=$((whole_us * every / last * r / 1000 * r / 1000 * r / 1000))
      before=$(echo run/checkpoints/*.tmp-*)
      while is_running; do
        saving=(run/checkpoints/*.tmp-*)
        [[ ${saving[*]} == "$before" || ${#saving[@]} == 0 ]] || break
        pause 0.0002
      done
      ;;
  esac
  printf -v wait_us '%d.%06d' $((wait_us / 1000000)) $((wait_us % 1000000))
  pause "$wait_us"
  kill -KILL -- "-$pid" 2>/dev/null
}

kills=0 runs=0 in_save=0 in_start=0 again=0
make_corpus "$prepare" || failed "prepare: exit status $?"
begin_us=${EPOCHREALTIME/./}
call $config --keep 1000 --out whole
await
((got == 0)) || failed "the undisturbed run: exit status $got"
whole_us=$((${EPOCHREALTIME/./} - begin_us))

runs=1
while true; do
  look_at_run
  newest_before=$newest rows_before=${rows[*]}
  look_for_leftovers
  left_before=" ${left[*]} "
  if [[ -d run ]]; then call --resume run; else call $config --keep 1 --out run; fi
  ((kills < n)) && kill_at_random
  await
  if ((got == 0)); then
    compare_run
    ((kills < n)) || break
    rm -r run
    runs=$((runs + 1))
    continue
  fi
  ((got == 137 && kills < n)) || failed "exit status $got"
  kills=$((kills + 1))
  ((kills % 100)) || echo "kill_loop: seed $seed: $kills kills, $SECONDS s" >&2
  look_at_run
  ((newest >= newest_before)) || failed "the checkpoint of step $newest_before is lost"
  ((logged >= newest)) || failed "rows up to step $logged, but a checkpoint of step $newest"
  # A save is written beside the steps up to the next, which waits for it.
  ((newest < 0 || logged <= newest + 2 * every)) ||
    failed "step $logged is done, but none saved since step $newest"
  [[ ${rows[*]} == "$rows_before" ]] || again=$((again + logged - (newest < 0 ? 0 : newest)))
  compare_checkpoints
  look_for_leftovers
  where=
  for name in "${left[@]}"; do
    [[ $name == run/checkpoints/* && $left_before != *" $name "* ]] && where=save
  done
  if [[ $where ]]; then
    in_save=$((in_save + 1))
  elif ! grep -qE '^(training in|resuming at|finished:)' said; then
    in_start=$((in_start + 1))
  fi
done
((n < 20 || in_save > 0)) || failed 'none of the kills fell into a save, so this has not tested much'
cd / && rm -rf "$folder"
echo "kill_loop: seed $seed: $kills kills in $runs runs: $in_save in a save, $in_start in a start," \
  "$((kills - in_save - in_start)) elsewhere; $again steps done again;" \
  "each run ended as the undisturbed one; $SECONDS s"
