#!/bin/bash
# full_disk.sh TRAIN PREPARE: on a disk that is full, or cannot be written to any more, a run ends with
# status 3, names the file and how to go on, and keeps its checkpoint; once there is room it goes on to
# the end of the undisturbed run. The disk is a tmpfs of 2 MiB in a mount namespace of its own; where
# that is not permitted this is said aloud, and a limit on the size of files is all there is. Exit
# status 0 when all of it is as said.
set -u
export LC_ALL=C
if [[ ! ${FARFIELD_OWN_MOUNTS:-} ]]; then
  export FARFIELD_OWN_MOUNTS=no
  for namespace in 'unshare --mount' 'unshare --user --map-root-user --mount'; do
    $namespace mount -t tmpfs -o size=64k none /tmp 2>/dev/null &&
      FARFIELD_OWN_MOUNTS=yes exec $namespace bash "$0" "$@"
  done
fi
train=$(realpath "$1") prepare=$(realpath "$2")
source "$(dirname "$0")/small_run.sh"
folder=$(mktemp -d) || exit 1
trap 'umount "$folder/disk" 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

make_corpus "$prepare"
status "$train" $config --out whole
expect 'train' 0 "$got"
mkdir disk
if [[ $FARFIELD_OWN_MOUNTS == yes ]]; then mount -t tmpfs -o size=2m none disk || exit 1; fi
start=("$train" $config --keep 1 --out disk/run)
saved=disk/run/checkpoints/step-00000006

# refused WHAT TEXT...: the last command was, with these words
refused() {
  local what=$1 text
  shift
  expect "$what" 3 "$got"
  for text in "$@"; do says "$what" "$text"; done
}
# kept WHAT BEFORE: step 6, and no part of another
kept() {
  expect "$1: checkpoints" step-00000006 "$(ls disk/run/checkpoints)"
  expect "$1: left behind" '' "$(find disk -name '*.tmp-*')"
  same_checkpoint "$2" "$saved" || expect "$1: the checkpoint" 'as before' 'another'
}

# --- a limit on the size of files: of the rows of metrics.csv, of a checkpoint, of a new run
status "${start[@]}" --stop-after 6
expect 'train --stop-after 6' 75 "$got"
cp -r $saved saved
# limited KIB COMMAND...: what it says is no file, which would be limited too
limited() {
  (ulimit -f "$1" && shift && exec "$@") 2>&1 | cat >said
  got=${PIPESTATUS[0]}
}
way_out='the limit on the size of a file is reached; step 6 is saved, continue with --resume disk/run'
limited 4 "$train" --resume disk/run --checkpoint-every 0
refused 'rows beyond the limit' "disk/run/metrics.csv: cannot write: File too large; $way_out"
kept 'rows beyond the limit' saved
columns_of() { tr -dc ',\n' | wc -c; }
expect 'columns of the last row' "$(head -n 1 disk/run/metrics.csv | columns_of)" \
  "$(tail -n 1 disk/run/metrics.csv | columns_of)"
limited 20 "$train" --resume disk/run
refused 'a checkpoint beyond the limit' 'disk/run/checkpoints/step-00000009' "$way_out"
kept 'a checkpoint beyond the limit' saved
mv disk/run run
limited 20 "${start[@]}"
refused 'a new run beyond the limit' 'disk/run' 'the limit on the size of a file is reached'
expect 'a new run beyond the limit leaves' '' "$(ls disk)"

# --- a full disk
fill() { # KIB: as many are left
  dd if=/dev/zero of=disk/fill bs=4k status=none 2>/dev/null
  truncate -s "-${1}k" disk/fill
}
no_space='No space left on device; free some space and run again'
if [[ $FARFIELD_OWN_MOUNTS == yes ]]; then
  size=$(du -sk saved | cut -f 1)
  for left in 0 $((size / 2)); do
    fill $left
    status "${start[@]}"
    refused "a new run, $left KiB left" disk/run "$no_space"
    expect "a new run, $left KiB left, leaves" fill "$(ls disk)"
    rm disk/fill
  done
  fill 0
  status "$prepare" --input text.txt --output disk/corpus
  refused 'prepare on a full disk' disk/corpus "$no_space"
  expect 'prepare on a full disk leaves' fill "$(ls disk)"
  rm disk/fill

  cp -r run disk
  fill 0
  status "$train" --resume disk/run
  refused 'nothing left' disk/run/ "$no_space"
  kept 'nothing left' saved
  rm disk/fill
  # Ends in the first, the second and the third file of a checkpoint.
  for left in 12 $((size / 2)) $((size - 8)); do
    fill $left
    status "$train" --resume disk/run
    refused "$left KiB left" disk/run/checkpoints/step-00000009 \
      "$no_space; step 6 is saved, continue with --resume disk/run"
    kept "$left KiB left" saved
    rm disk/fill
  done

  # --- a disk that turned read-only
  before=$(contents disk/run)
  mount -o remount,ro disk
  read_only='Read-only file system; choose another place'
  status "$train" --resume disk/run
  refused 'train --resume, read-only' "disk/run/lock: cannot open: $read_only"
  status "$train" $config --out disk/other
  refused 'train --out, read-only' 'disk/other' "$read_only"
  status "$prepare" --input text.txt --output disk/corpus
  refused 'prepare, read-only' 'disk/corpus' "$read_only"
  mount -o remount,rw disk
  expect 'the run on a disk that was read-only' "$before" "$(contents disk/run)"
else
  echo 'SKIPPED: a full disk and a read-only one: no file system can be mounted here' >&2
  mv run disk
fi

# --- room again
status "$train" --resume disk/run
expect 'train --resume with room' 0 "$got"
says 'train --resume with room' 'resuming at step 6 in disk/run'
same_end whole disk/run || expect 'the end' 'that of the undisturbed run' 'another'
exit $failed
