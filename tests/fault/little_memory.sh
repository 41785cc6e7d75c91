#!/bin/bash
# little_memory.sh TRAIN PREPARE EVAL: however little memory a program may have (ulimit -v), it does its
# work or ends with a sentence and status 1, or 2 where fewer threads would do: nothing that a library
# returns is taken for granted. Exit status 0 when all of it is as said.
set -u
export LC_ALL=C
train=$(realpath "$1") prepare=$(realpath "$2") eval=$(realpath "$3")
source "$(dirname "$0")/small_run.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

make_corpus "$prepare"
status "$train" $config --out run --stop-after 3
expect 'train --stop-after 3' 75 "$got"

# limited KIB COMMAND...: with an address space of that size
limited() { (ulimit -v "$1" && shift && exec "$@"); }
# is_begun KIB PROGRAM: whether it gets to its main(): with less some libraries' own initialisation aborts.
is_begun() { limited "$1" "$2" --version >/dev/null 2>&1; (($? != 134)); }
# starved STATUS WHAT COMMAND...: which ends with STATUS where there is enough
starved() {
  local wanted=$1 what=$2 kib=20000 ends=0
  shift 2
  for ((; kib < 4000000; kib += kib / 30)); do
    rm -rf made
    status limited $kib "$@"
    case $got in
      "$wanted") ((++ends > 1)) && return ;;
      127) ;;  # the system's loader, before the program
      134) is_begun $kib "$1" && expect "$what with $kib KiB" 'a status of its own' "$got" ;;
      1 | 2) [[ -s said ]] || expect "$what with $kib KiB: says" 'a sentence' 'nothing' ;;
      *) expect "$what with $kib KiB" 'a status of its own' "$got" ;;
    esac
  done
  expect "$what with $kib KiB" 'its work done' "status $got"
}

starved 0 eval "$eval" run --lengths 64 --segments 4 --threads 1 --out made
starved 75 train "$train" $config --out made --stop-after 1
starved 0 prepare "$prepare" --input text.txt --output made
exit $failed
