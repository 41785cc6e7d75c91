# Sourced by apps/gpu_check.sh. Writes the results to --out: summary.txt, and results.tgz with a
# folder for each part. While the script runs, the folders are in $work, together with folders of an
# earlier call.

# Identifies card and build: figures of an earlier call are kept only if these agree.
what_is_measured() { echo "$card"; sha256sum <"$tree/bin/bench" 2>/dev/null || echo "nothing is built"; }

open_results() {
  work=$out/parts
  mkdir -p "$work"
  if [[ -e $out/results.tgz ]]; then tar -C "$out" -xzf "$out/results.tgz"; fi
  if [[ -e $work/measured.txt ]] && ! diff -q <(what_is_measured) "$work/measured.txt" >/dev/null; then
    echo "results in $out are of another card or build: they are in results-earlier.tgz now"
    if [[ -e $out/results.tgz ]]; then mv "$out/results.tgz" "$out/results-earlier.tgz"; fi
    rm -rf "$work"
    mkdir -p "$work"
  fi
  for part in "${parts[@]}"; do rm -rf "${work:?}/$part"; done
}

pack_results() {
  what_is_measured >"$work/measured.txt"
  local log
  while IFS= read -r log; do  # of a sanitizer that finds something everywhere
    tail -c 1000000 "$log" >"$log.end"
    mv "$log.end" "$log"
  done < <(find "$work" -type f -size +2M)
  tar -C "$out" -czf "$out/results.tgz.new" parts && mv "$out/results.tgz.new" "$out/results.tgz" && rm -rf "$work"
}
