# Sourced by apps/gpu_check.sh: what it leaves in --out: summary.txt, and results.tgz with a folder for
# each part. While it runs the folders are in $work; those of an earlier call are there too.

# What an earlier call must agree in, that its figures may stand beside ours.
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
