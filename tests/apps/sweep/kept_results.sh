#!/bin/bash
# kept_results.sh SWEEP FOLDER [README]: the committed report is what `sweep report` writes from the committed
# results, to the byte: text, verdicts, numbers and figures. It would not be if a change gave cells or
# measurements other names, findings another sense, or results arrived without a report.
set -eu
sweep=$1 kept=$2 readme=${3:-}
drawn_by="gnuplot 5.4"  # others place labels elsewhere
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[[ $(ls "$kept/results" | wc -l) -gt 0 ]]
cp -r "$kept/sweep.json" "$kept/results" "$folder"
"$sweep" report "$folder" --out "$folder/report" >"$folder/said" || { cat "$folder/said"; exit 1; }

has_figures=yes
case $(gnuplot --version 2>/dev/null || echo none) in
  "$drawn_by "*) ;;
  *) has_figures=no; echo "SKIPPED: the figures, which $drawn_by draws; the rest is compared" ;;
esac
without_figures() { if [[ $has_figures = yes ]]; then cat "$1"; else grep -v '^!\[' "$1"; fi; }

failed=no
for file in report.md claims.csv; do
  diff <(without_figures "$kept/$file") <(without_figures "$folder/report/$file") || failed=yes
done
if [[ $has_figures = yes ]]; then
  diff -rq "$kept/figures" "$folder/report/figures" || failed=yes
fi
# README has the counts of the report.
if [[ -n $readme ]]; then
  grep -qE '^\| claims of' "$folder/report/report.md"
  while read -r row; do
    grep -qxF "$row" "$readme" || { echo "expected in $readme: $row" >&2; failed=yes; }
  done < <(grep -E '^\| (claims of|checks of our own)' "$folder/report/report.md")
fi
if [[ $failed = yes ]]; then
  echo "expected the report of $kept; after a change that is meant:" >&2
  echo "  build/cpu/bin/sweep report $kept --out $kept" >&2
  exit 1
fi
