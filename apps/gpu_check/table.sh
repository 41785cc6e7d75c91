# Sourced by apps/gpu_check.sh: the table. Each row of the files below is
#   what,by,ms,forward,backward,TFLOP/s,MFU,peak MiB,remark
# ours of bench's tables, peers of apps/gpu_check/torch_*.py, which know no TFLOP/s and no MFU: these
# follow from the times, flop being counted alike.

# ours_of FILE: rows of a table that bench has written, and of the log beside it, which says how a step
# was given to the card.
ours_of() {
  local file=${1##*/}
  awk -F, -v OFS=, -v file="${file%.csv}" '
    function of(name) { return name in column ? $column[name] : "" }
    function tflops() { return of("GFLOP/s") == "" ? "" : sprintf("%.1f", of("GFLOP/s") / 1000) }
    function step(figure, how) { print "step " of("encoding") figure, how, of("ms/step"), "", "", tflops(), of("MFU"), of("peak MiB"), "" }
    function given() { return (of("encoding") in is_graph) ? "CUDA graph" : "kernel by kernel" }
    FILENAME ~ /log$/ { if (/^[^ ]+: one CUDA graph of/) { sub(/:.*/, ""); is_graph[$0] = 1 } next }
    FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    file == "step" || file == "step-without-graph" { step("", given()) }
    file == "step-tuned" { step("", given() " tuned") }
    file == "step-bf16-logits" { step(" bf16 logits", given()) }
    file ~ /^attention/ { split(file, part, "-"); print "attention " (part[2] == 64 ? "" : part[2] " ") of("encoding") " " of("length"), "farfield", of("ms"), of("forward"), of("backward"), tflops(), of("share"), of("extra MiB"), "" }
    file == "forward" { print "forward " of("encoding") " " of("length"), "farfield", of("ms"), "", "", "", "", of("peak MiB"), of("tokens/s") " tokens/s" }
    file == "bandwidth" { print of("work"), "farfield", of("ms"), "", "", "", "", "", of("GB/s") " GB/s; " of("of copy") " of copy" }
    file == "matmul" { print "product " of("product"), "farfield", of("ms"), "", "", tflops(), of("share"), "", "" }
  ' "${1%.csv}.log" "$1"
}

# Rows of all parts, including parts of earlier calls.
collect_rows() {
  local file
  for file in "$work"/{step/step,step/step-bf16-logits,step/step-without-graph,tuned/step-tuned}.csv \
      "$work"/attention/*.csv "$work"/bandwidth/{forward,matmul,bandwidth}.csv; do
    if [[ -s $file ]]; then ours_of "$file"; fi
  done >"$work/ours.csv"
  for file in "$work"/torch-*/torch_*.csv; do
    if [[ -s $file ]]; then tail -n +2 "$file"; fi
  done >"$work/peers.csv"
  for file in "$work"/*/checks.csv; do
    if [[ -s $file ]]; then cat "$file"; fi
  done >"$work/checks.csv"
}

# The result of each part, including parts of earlier calls.
print_results() {
  local one
  for one in "${all_parts[@]}"; do
    [[ -s $work/$one/result ]] || continue
    sed "$([[ " ${parts[*]} " == *" $one "* ]] || echo 's/$/ (an earlier call)/')" "$work/$one/result"
  done
}

# print_rows long|short: short prints only the fastest peer of each attention problem and the sum of
# the matrix products, so that the table fits a terminal.
print_rows() {
  [[ -s $work/ours.csv || -s $work/peers.csv || -s $work/checks.csv ]] || return 0
  printf '\n%-29s %-22s %8s %8s %8s %7s %7s %7s %6s  %s\n' \
    figure by ms forward backward TFLOP/s MFU MiB 'x ours' remark
  # Peers stand behind the last of our rows of the same figure; `x ours` is against the first.
  awk -F, -v is_short="$([[ $1 == short ]] && echo 1)" '
    function show(x_ours, line) {
      if (is_short && $1 ~ /^product / && $1 != "product all of a step") return
      line = sprintf("%-29s %-22s %8s %8s %8s %7s %7s %7s %6s  %s", $1, $2, $3, $4, $5, $6, $7, $8, x_ours, is_short ? substr($9, 1, 72) : $9)
      sub(/ +$/, "", line)
      print line
    }
    function show_peer(row, n, ratio) {
      $0 = row
      n = $1
      if (is_short && ($3 == "" ? n in fastest || n !~ /^step/ : n ~ /^attention/ && $3 > fastest[n])) return
      ratio = ""
      if ($3 != "" && ms[n] > 0) {
        ratio = sprintf("%.2f", $3 / ms[n])
        if (tflops[n] != "") $6 = sprintf("%.1f", tflops[n] * ms[n] / $3)
        if (mfu[n] != "") $7 = sprintf("%.1f %%", mfu[n] * ms[n] / $3)
      }
      show(ratio)
    }
    FILENAME == ARGV[1] {
      peers[$1, ++n_peer[$1]] = $0
      if (n_peer[$1] == 1) order[++n_order] = $1
      if ($3 != "" && (!($1 in fastest) || $3 + 0 < fastest[$1])) fastest[$1] = $3 + 0
      next
    }
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
      for (i = 1; i <= n_check; ++i) { $0 = checks[i]; printf "%-29s %-22s %s\n", $1, $2, is_short ? substr($9, 1, 110) : $9 }
    }
  ' "$work/peers.csv" "$work/ours.csv" "$work/checks.csv"
  cat <<'TEXT'

Attention: no bias, a fixed one (alibi), a learned one (kerple_log), a learned bias and weight
(bias_wht); heads of 64 where no width stands; flop of the causal half; MiB beyond inputs, output and
their gradients. x ours: ms against those of the first row of a figure.
TEXT
}
