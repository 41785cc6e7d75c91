#!/bin/bash
# kept_results.sh SWEEP FOLDER: the results that are committed give the verdicts that are committed.
# They would not if a change gave cells or measurements other names, or findings another sense.
set -eu
sweep=$1 kept=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$kept/sweep.json" "$kept/results" "$folder"
"$sweep" report "$folder" --out "$folder/report" >"$folder/said" || { cat "$folder/said"; exit 1; }
verdicts() { cut -d, -f1,2,5 "$1" | uniq; }
diff <(verdicts "$kept/claims.csv") <(verdicts "$folder/report/claims.csv") || {
  echo "expected the verdicts of $kept/claims.csv; after a change that is meant:" >&2
  echo "  build/cpu/bin/sweep report apps/sweep/results --out apps/sweep/results" >&2
  exit 1
}
[[ $(ls "$kept/results" | wc -l) -gt 0 ]]
