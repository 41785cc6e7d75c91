# Sourced by apps/gpu_check.sh: the part of the sanitizers of CUDA, which are up to a thousand times
# slower. What takes longest comes last, and what there is no time for is not run, which is no failure.

# sanitized NAME COMMAND...: under $tool.
sanitized() {
  local name=$1 status=0
  shift
  n_counted=$((n_counted + 1))
  if ((SECONDS >= part_end)); then status=124; else
    limited compute-sanitizer --tool "$tool" "${options[@]}" --error-exitcode 9 "$@" >"$dir/$tool-$name.log" 2>&1 || status=$?
  fi
  case $status in
    0) ;;
    124 | 137) not_run+=("$name") ;;
    *) failed+=("$name($status)") ;;
  esac
}

# sanitize_by TOOL: runs everything, and says in $dir/TOOL.txt how it went.
sanitize_by() {
  local tool=$1 name precision n_counted=0 failed=() not_run=() options=("${options[@]}")
  for precision in bf16 fp32; do
    sanitized "step-$precision" "$tree/bin/bench" step --device cuda --precision $precision \
      --preset smoke --train-len 40 --batch 2 --rounds 1 --posenc $encodings --cuda-graph off
    sanitized "attention-$precision" "$tree/bin/bench" attention --device cuda --precision $precision \
      --lengths 130 --heads 2 --head-dim 64 --rounds 1 --posenc $attention_encodings
  done
  # Tests provoke calls that fail, and check the errors themselves.
  if [[ $tool == memcheck ]]; then options+=(--report-api-errors no); fi
  for name in "${tests[@]}"; do
    # cuBLASLt stores products by TMA, which initcheck does not see: it reports its own kernels too.
    if [[ $tool == initcheck && $name =~ ^test_cuda_(cross_entropy|linear|tuning)$ ]]; then continue; fi
    sanitized "$name" "$tree/tests/$name" --color_output=no
  done
  local n_passed=$((n_counted - ${#failed[@]} - ${#not_run[@]}))
  echo "$tool: $n_passed of $n_counted passed${failed[*]:+; failed: ${failed[*]}}${not_run[*]:+; not run: ${not_run[*]}}" >"$dir/$tool.txt"
  check "$tool" compute-sanitizer "$(cut -d' ' -f2- "$dir/$tool.txt")"
  if ((${#failed[@]})); then return 1; fi
  if ((${#not_run[@]})); then return $partial; fi
}

# The tests of kernels: tests of attention last, and none at full size.
tests_to_sanitize() {
  local names
  names=$(card_tests "$tree" | grep -E '^test_(cuda_|kernels$|step_graph$)' | grep -vE '^test_cuda_(repeats|nccl)$')
  grep -v '^test_cuda_attention' <<<"$names"
  grep '^test_cuda_attention' <<<"$names"
}

part_sanitize() {
  need_tree || return
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; return $skipped; }
  local tests tool status=0 one own pids=() options=() most_s=$(((part_end - SECONDS) / 4))
  mapfile -t tests < <(tests_to_sanitize)
  # On some machines programs take longer to start than the 10 s that the sanitizer waits.
  if timeout 30 compute-sanitizer --help 2>&1 | grep -q -- --launch-timeout; then options=(--launch-timeout 60); fi
  export FARFIELD_KEEP_BLOCKS=0  # engine/README.md
  for tool in memcheck racecheck initcheck synccheck; do  # side by side: each waits for the host mostly
    sanitize_by "$tool" &
    pids+=($!)
  done
  for one in "${pids[@]}"; do
    own=0
    wait "$one" || own=$?
    if ((status == 0 || status == partial)) && ((own)); then status=$own; fi
  done
  unset FARFIELD_KEEP_BLOCKS
  for tool in memcheck racecheck initcheck synccheck; do cut -d';' -f1 "$dir/$tool.txt"; done | paste -sd '|' | sed 's/|/, /g'
  return $status
}
