#!/usr/bin/env bash
# links_can_fail.sh CHECK: the check of links on a repository with three that are broken, beside
# some that look so.
set -euo pipefail

check=$(readlink -f "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/part"
cat >"$folder/README.md" <<'PAGE'
# First page
[a file](part/other.md), [a folder](part), [a heading](part/other.md#the-second-one-of-two),
[another of its name](part/other.md#notes-1), [here](#first-page) and [the web](https://example.org/none.md).
[1: no such file](part/none.md) and `[code](none.md)`.
```text
[code](none.md)
```
[2: no such heading](part/other.md#the-second-ones)
PAGE
cat >"$folder/part/other.md" <<'PAGE'
# The "second one" of `two`
## Notes
## Notes
[up](../README.md#first-page), [3: a file that is not tracked](left.md)
PAGE
touch "$folder/part/left.md"
if ! git -C "$folder" init -q || ! git -C "$folder" add -f README.md part/other.md; then
  echo "skipped: no git"
  exit
fi
"$check" "$folder"
