#!/usr/bin/env bash
# Runs a program that stands on a page: run_sample.sh PLACE PROGRAM TEXT [ARGUMENT...].
# The program has to exit with status 0 and to print each line of the file TEXT, which is the block
# behind it, with any numbers (tests/samples.cmake).
set -euo pipefail
source "$(dirname "$(readlink -f "$0")")/output.sh"

failed() {
  echo "sample: $*" >&2
  exit 1
}

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
program=$(readlink -f "$2")
cp "$3" "$here/text"
mkdir "$here/home"
(cd "$here/home" && "$program" "${@:4}") </dev/null >"$here/output" 2>&1 || {
  status=$?
  cat "$here/output" >&2
  failed "$1: expected a program that exits with status 0, got $status"
}
check_output "$1"
echo "sample: $1 prints what its page says"
