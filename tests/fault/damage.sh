#!/bin/bash
# damage.sh TRAIN PREPARE: damages each file of a run's newest checkpoint in each way. The run must
# be refused with status 3, with the file's name, and unchanged. After the advice of the message it
# must resume from the older checkpoint to the end of the undisturbed run. The same for a run
# without write permission. Exit status 0 if all of this holds.
set -u
export LC_ALL=C
train=$(realpath "$1") prepare=$(realpath "$2")
source "$(dirname "$0")/small_run.sh"
folder=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

make_corpus "$prepare"
status "$train" $config --out whole
expect 'train' 0 "$got"
status "$train" $config --keep 3 --out run --stop-after 12
expect 'train --stop-after 12' 75 "$got"
expect 'its checkpoints' 'step-00000006 step-00000009 step-00000012' "$(echo $(ls run/checkpoints))"

# damage HOW FILE
damage() {
  local how=$1 file=$2 size at byte
  size=$(stat -c %s "$file")
  case $how in
    first | middle | last)
      case $how in first) at=0 ;; middle) at=$((size / 2)) ;; last) at=$((size - 1)) ;; esac
      byte=$(od -An -tu1 -j$at -N1 "$file")
      printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$file" bs=1 seek=$at conv=notrunc status=none
      ;;
    shorter) truncate -s -2 "$file" ;;  # the last byte of state.json is the end of its line
    empty) : >"$file" ;;
    longer) echo >>"$file" ;;
    gone) rm "$file" ;;
    folder) rm "$file" && mkdir "$file" ;;
  esac
}

newest=checkpoints/step-00000012
for file in run/$newest/*; do
  file=$newest/${file##*/}
  for how in first middle last shorter empty longer gone folder; do
    # A line more behind an object of JSON is no damage.
    [[ $file == *.json && $how == longer ]] && continue
    what="$file, $how"
    rm -rf hurt away
    cp -r run hurt
    damage "$how" "hurt/$file"
    before=$(contents hurt)
    status "$train" --resume hurt
    expect "$what: train --resume" 3 "$got"
    says "$what" "hurt/$file: "
    says "$what" '; whole and older: step-00000009, step-00000006; to resume from there, move '
    expect "$what: the run afterwards" "$before" "$(contents hurt)"

    [[ $how == middle || $how == gone ]] || continue
    [[ $(<said) =~ 'to resume from there, move '(.*)' away' ]] && mv "${BASH_REMATCH[1]}" away
    status "$train" --resume hurt --checkpoint-every 0
    expect "$what: resumed as said" 0 "$got"
    says "$what" 'resuming at step 9 in hurt'
    same_end whole hurt || expect "$what: the end" 'that of the undisturbed run' 'another'
  done
done

# --- two, and all of them
rm -rf hurt
cp -r run hurt
damage middle hurt/$newest/model.safetensors
damage middle hurt/checkpoints/step-00000009/optimizer.safetensors
status "$train" --resume hurt
expect 'two damaged checkpoints' 3 "$got"
says 'two damaged checkpoints' "hurt/$newest/model.safetensors: "
says 'two damaged checkpoints' '; whole and older: step-00000006; to resume from there, move '
damage gone hurt/checkpoints/step-00000006/state.json
before=$(contents hurt)
status "$train" --resume hurt
expect 'all checkpoints damaged' 3 "$got"
says 'all checkpoints damaged' "hurt/$newest/model.safetensors: "
says 'all checkpoints damaged' '; no older checkpoint is whole'
expect 'all checkpoints damaged: the run afterwards' "$before" "$(contents hurt)"
rm -r hurt/checkpoints/*
status "$train" --resume hurt
expect 'no checkpoint' 3 "$got"
says 'no checkpoint' 'hurt/checkpoints: expected a checkpoint, got none'

# --- a run of somebody else, or write-protected: as another user, where this one may do anything
as_user=()
((EUID == 0)) && as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 755 "$folder"
if "${as_user[@]}" "$train" --help >/dev/null 2>&1 && "${as_user[@]}" test -r corpus/train.tokens; then
  chmod -R a-w run
  before=$(contents run)
  status "${as_user[@]}" "$train" --resume run
  expect 'a run that may not be written' 3 "$got"
  says 'a run that may not be written' \
    'run/lock: cannot open: Permission denied; choose another place or change its permissions'
  expect 'a run that may not be written, afterwards' "$before" "$(contents run)"
  status "${as_user[@]}" "$train" $config --out run/other
  expect 'a new run where none may be' 3 "$got"
  says 'a new run where none may be' \
    'cannot create the folder: Permission denied; choose another place or change its permissions'
  chmod -R u+w run
else
  echo 'SKIPPED: no user here whom permissions bind' >&2
fi
status "$train" --resume run
expect 'train --resume in the end' 0 "$got"
same_end whole run || expect 'the end' 'that of the undisturbed run' 'another'
exit $failed
