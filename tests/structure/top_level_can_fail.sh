#!/bin/sh
# top_level_can_fail.sh CMAKE CHECK: the check of the top level on a repository with a file too many.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$folder/CMakeLists.txt" "$folder/tool.whl"
if ! git -C "$folder" init -q || ! git -C "$folder" add -f CMakeLists.txt tool.whl; then
  echo "skipped: no git"
  exit
fi
"$1" -D ROOT="$folder" -P "$2"
