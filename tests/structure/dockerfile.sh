#!/usr/bin/env bash
# dockerfile.sh SOURCE: the commands of third_party/Dockerfile install what ./demo and ./check need,
# and nothing more; with a fake apt-get instead of the real one.
set -euo pipefail
source_dir=$1
file=$source_dir/third_party/Dockerfile
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "dockerfile: $*" >&2
  exit 1
}

mkdir -p "$folder/bin" "$folder/tmp"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/dpkg-query"  # nothing is installed
printf '#!/bin/sh\necho "$*" >>"%s/calls"\n' "$folder" >"$folder/bin/apt-get"
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$folder/bin/sudo"  # behind -n
chmod +x "$folder"/bin/*

grep -q '^FROM debian:' "$file" || fail "expected a base image of Debian"
grep -q '^COPY packages.sh /tmp/$' "$file" || fail "expected packages.sh to be copied to /tmp"
if grep -q 'apt-get \(.* \)\?install' "$file"; then fail "expected packages.sh to install, got apt-get"; fi
cp "$source_dir/third_party/packages.sh" "$folder/tmp/"
command=$(sed -n 's/^RUN \(bash .*packages.sh [a-z ]*\) &&.*/\1/p' "$file")
[[ -n $command ]] || fail "expected RUN bash /tmp/packages.sh NAME... && ..."
PATH="$folder/bin:$PATH" bash -c "${command//\/tmp\//$folder/tmp/}" >"$folder/said" ||
  fail "expected '$command' to end with status 0, got $?: $(<"$folder/said")"

source "$source_dir/third_party/packages.sh"
asked=$(sed -n 's/.*install -y --no-install-recommends //p' "$folder/calls")
expected="${build_packages[*]} ${check_packages[*]}"
[[ $asked == "$expected" ]] || fail "expected $expected, got $asked"
for script in demo check; do
  grep -q 'third_party/packages.sh' "$source_dir/$script" || fail "expected ./$script to read packages.sh"
done
echo "dockerfile: passed"
