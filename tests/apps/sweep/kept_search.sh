#!/bin/bash
# kept_search.sh SWEEP FOLDER: the committed result of a search is what `sweep search` writes from the committed
# cells, to the byte. It trains nothing.
set -eu
sweep=$1 kept=$2
drawn_by="gnuplot 5.4"  # others place labels elsewhere
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$kept/sweep.json" "$kept/results" "$folder"
"$sweep" search --hours 2 --out "$folder" >"$folder/said" 2>&1 || { cat "$folder/said"; exit 1; }
if grep -qE "[1-9][0-9]* to be made" "$folder/said"; then cat "$folder/said"; exit 1; fi

failed=no
for file in search.md search.csv; do diff <(grep -v '^!\[' "$kept/$file") <(grep -v '^!\[' "$folder/$file") || failed=yes; done
case $(gnuplot --version 2>/dev/null || echo none) in
  "$drawn_by "*)
    for file in "$kept"/search-*.svg; do cmp "$file" "$folder/$(basename "$file")" || failed=yes; done ;;
  *) echo "SKIPPED: the figures, which $drawn_by draws; the rest is compared" ;;
esac
if [[ $failed = yes ]]; then
  echo "expected the result of $kept; after a change that is meant, run on a copy: sweep search --hours 2 --out COPY" >&2
  exit 1
fi
