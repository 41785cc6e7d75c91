# Sourced by apps/gpu_check.sh: the table. Each row of the files below is
#   what,by,ms,forward,backward,TFLOP/s,MFU,peak MiB,remark
# ours of bench's tables, peers of apps/gpu_check/torch_*.py, which know no TFLOP/s and no MFU: these
# follow from the times, flop being counted alike.

# ours: rows of the tables that bench has written.
ours() {
  local file
  for file in step step-without-graph step-tuned attention forward bandwidth; do
    [[ -s $out/bench-$file.csv ]] || continue
    awk -F, -v OFS=, -v file=$file '
      function of(name) { return name in column ? $column[name] : "" }
      function tflops() { return of("GFLOP/s") == "" ? "" : sprintf("%.1f", of("GFLOP/s") / 1000) }
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      file == "step" { print "step " of("encoding"), "CUDA graph", of("ms/step"), "", "", tflops(), of("MFU"), of("peak MiB"), "" }
      file == "step-without-graph" { print "step " of("encoding"), "kernel by kernel", of("ms/step"), "", "", tflops(), of("MFU"), of("peak MiB"), "" }
      file == "step-tuned" { print "step " of("encoding"), "CUDA graph tuned", of("ms/step"), "", "", tflops(), of("MFU"), of("peak MiB"), "" }
      file == "attention" { print "attention " of("encoding") " " of("length"), "farfield", of("ms"), of("forward"), of("backward"), tflops(), of("share"), "", "" }
      file == "forward" { print "forward pass " of("encoding") " " of("length"), "farfield", of("ms"), "", "", "", "", of("peak MiB"), of("tokens/s") " tokens/s" }
      file == "bandwidth" { print of("work"), "farfield", of("ms"), "", "", "", "", "", of("GB/s") " GB/s; " of("of copy") " of copy" }
    ' "$out/bench-$file.csv"
  done
}

print_table() {
  printf '\n%-16s %-10s %6s  %s\n' part result s remark
  for part in "${parts[@]}"; do
    printf '%-16s %-10s %6d  %s\n' "$part" "${result[$part]}" "${time_s[$part]}" "${remark[$part]}"
  done
  ours >"$out/ours.csv"
  local file
  for file in "$out"/torch_*.csv; do
    if [[ -s $file ]]; then tail -n +2 "$file"; fi
  done >"$out/peers.csv"
  for file in "$out"/checks-*.csv; do
    if [[ -s $file ]]; then cat "$file"; fi
  done >"$out/checks.csv"
  [[ -s $out/ours.csv || -s $out/peers.csv || -s $out/checks.csv ]] || return 0
  printf '\n%-30s %-26s %9s %9s %9s %8s %7s %9s %7s  %s\n' \
    figure by ms forward backward TFLOP/s MFU 'peak MiB' 'x ours' remark
  # Peers stand behind the last of our rows of the same figure; `x ours` is against the first.
  awk -F, '
    function show(x_ours) { printf "%-30s %-26s %9s %9s %9s %8s %7s %9s %7s  %s\n", $1, $2, $3, $4, $5, $6, $7, $8, x_ours, $9 }
    function show_peer(row, n, ratio) {
      $0 = row
      n = $1
      ratio = ""
      if ($3 != "" && ms[n] > 0) {
        ratio = sprintf("%.2f", $3 / ms[n])
        if (tflops[n] != "") $6 = sprintf("%.1f", tflops[n] * ms[n] / $3)
        if (mfu[n] != "") $7 = sprintf("%.1f %%", mfu[n] * ms[n] / $3)
      }
      show(ratio)
    }
    FILENAME == ARGV[1] { peers[$1, ++n_peer[$1]] = $0; if (n_peer[$1] == 1) order[++n_order] = $1; next }
    FILENAME == ARGV[2] { own[$1, ++n_own[$1]] = $0; if (n_own[$1] == 1) { names[++n_name] = $1; ms[$1] = $3; tflops[$1] = $6; mfu[$1] = $7 } next }
    { checks[++n_check] = $0 }
    END {
      OFS = FS
      for (i = 1; i <= n_name; ++i) {
        name = names[i]
        for (j = 1; j <= n_own[name]; ++j) { $0 = own[name, j]; show("") }
        for (j = 1; j <= n_peer[name]; ++j) show_peer(peers[name, j])
      }
      for (i = 1; i <= n_order; ++i)
        if (!(order[i] in n_own))
          for (j = 1; j <= n_peer[order[i]]; ++j) show_peer(peers[order[i], j])
      for (i = 1; i <= n_check; ++i) { $0 = checks[i]; show("") }
    }
  ' "$out/peers.csv" "$out/ours.csv" "$out/checks.csv"
  cat <<'TEXT'

Attention: none, a fixed bias (alibi), a learned one (kerple_log), a learned bias and weight (bias_wht);
flop are those of the causal half. `x ours`: ms against those of the first row of a figure.
TEXT
}
