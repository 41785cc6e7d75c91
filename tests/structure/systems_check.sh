#!/usr/bin/env bash
# systems_check.sh SOURCE: third_party/systems_check.sh with a fake debootstrap and chroot:
# refusals, tests, output and cleanup. Needs root; for other users only the refusal is tested.
set -uo pipefail
source_dir=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
source "$source_dir/tests/support/expect.sh"
mkdir -p tree/third_party bin known/scripts
cp "$source_dir/third_party/systems_check.sh" tree/third_party/
printf 'build/\n' >tree/.gitignore
git -C tree init -q && git -C tree add . &&
  git -C tree -c user.name=t -c user.email=t@example.org commit -qm 'a tree' || exit 1
check() { status tree/third_party/systems_check.sh "$@"; }

check --frob
expect 'an unknown argument' 2 "$got"
says 'an unknown argument' "unknown argument '--frob'"
check --only lunch
expect 'an unknown part' 2 "$got"
says 'an unknown part' "--only: expected demo, check or bench, got 'lunch'"
check --help
expect '--help' 0 "$got"
if ((EUID != 0)); then
  check
  expect 'not root' 2 "$got"
  says 'not root' 'expected to run as root'
  echo 'SKIPPED: the rest needs root' >&2
  exit $failed
fi

program() {  # FILE: one of bash with the text of standard input
  { echo '#!/bin/bash'; cat; } >"$1"
  chmod +x "$1"
}
# The last word but for an address is the root.
program bin/debootstrap <<'TEXT'
[[ -e ${0%/*}/broken ]] && { echo 'no such archive'; exit 1; }
for word; do [[ $word == /* ]] && root=$word; done
mkdir -p "$root"/{etc,root,proc,sys,dev}
echo 'PRETTY_NAME="A System 1"' >"$root/etc/os-release"
TEXT
program bin/unshare <<'TEXT'
while [[ $1 == --* ]]; do [[ $1 == --propagation ]] && shift; shift; done
exec "$@"
TEXT
program bin/mount <<<true
program bin/df <<<'echo Avail; cat "${0%/*}/free"'
echo 99999999 >bin/free
# chroot ROOT env -i NAME=VALUE... bash -c COMMAND
program bin/chroot <<'TEXT'
ls "$1/root/farfield/third_party/systems_check.sh" || exit 1
case ${@: -1} in
  *./demo) echo 'demo: all is well' ;;
  *./check) echo 'check: stage tests failed'; exit 1 ;;
  *) touch "${0%/*}/waits"; sleep 60 & wait ;;
esac
TEXT
touch known/scripts/trixie
export PATH="$folder/bin:$PATH" DEBOOTSTRAP_DIR="$folder/known"

check --system nosuch
expect 'a system unknown to debootstrap' 2 "$got"
says 'a system unknown to debootstrap' "debootstrap knows no 'nosuch'"
check --folder tree
expect 'a folder with something in it' 2 "$got"
says 'a folder with something in it' '--folder: expected an empty folder or none'

check --only demo --folder made
expect 'a part that passes' 0 "$got"
says 'a part that passes' 'A System 1'
says 'a part that passes' 'demo: all is well'
expect 'a part that passes: the root' '' "$(ls made 2>/dev/null)"
check --only demo --only check --folder made
expect 'a part that fails' 1 "$got"
says 'a part that fails' 'FAILED'
expect 'a part that fails: the root' '' "$(ls made 2>/dev/null)"
check --only demo --folder made --keep
expect '--keep' 0 "$got"
expect '--keep: the root' trixie "$(ls made)"
rm -rf made
echo 1048576 >bin/free
check --folder made
expect 'a disk that is too small' 2 "$got"
says 'a disk that is too small' 'expected 8 GiB free for'
echo 99999999 >bin/free
touch bin/broken
check --folder made
expect 'no root' 1 "$got"
says 'no root' 'no such archive'
expect 'no root: what is left' '' "$(ls made 2>/dev/null)"
rm bin/broken

tree/third_party/systems_check.sh --only bench --folder made >said 2>&1 &
pid=$!
until_there 'the part that waits' '[[ -e bin/waits ]]'
kill -TERM $pid
wait $pid
expect 'a signal' 130 $?
expect 'a signal: the root' '' "$(ls made 2>/dev/null)"
((failed)) || echo 'systems_check: passed'
exit $failed
