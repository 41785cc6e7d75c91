# Sourced by apps/gpu_check.sh: its parts. Each returns 0, another status for a failure, 124 out of
# time, or 77 for "cannot run here"; the last line of its output stands in the table. What is held to
# be true of the card is a row `what,by,,,,,,,result` of $out/checks-PART.csv.

readonly skipped=77
readonly tokens=16384 lengths=512,2048,8192 longest=131072
readonly model=(--preset neox-162m --train-len 512 --batch 32)
readonly encodings=none,alibi,kerple_log,bias_wht,fire
readonly most_mib=$((80 * 1000 * 1000 * 1000 / 1048576))

# Runs a command within what is left of this part's time.
limited() {
  local left=$((part_end - SECONDS))
  ((left > 0)) || { echo "no time left"; return 124; }
  timeout --kill-after=5 "$left" "$@"
}

# check WHAT BY RESULT
check() { echo "$1,$2,,,,,,,${3//,/;}" >>"$out/checks-$part.csv"; }

need_tree() {
  [[ -x $tree/bin/bench ]] || { echo "nothing is built in $tree"; return 1; }
}

# Counts commands: count_from_0; counted NAME COMMAND...; count_of WHAT, which says how many passed.
count_from_0() { n_counted=0 failed=() late=0; }
counted() {
  local name=$1 status=0
  shift
  limited "$@" >"$out/$name.log" 2>&1 || status=$?
  n_counted=$((n_counted + 1))
  if ((status == 124 || status == 137)); then late=124; fi
  if ((status)); then
    failed+=("$name($status)")
    echo "-- $name: status $status"
    tail -n 5 "$out/$name.log"
  fi
}
count_of() {
  echo "$1: $((n_counted - ${#failed[@]})) of $n_counted passed${failed[*]:+; failed: ${failed[*]}}"
  ((${#failed[@]} == 0)) || return $((late ? late : 1))
}

part_build() {
  local tool
  for tool in cmake ninja nvcc; do
    command -v "$tool" >/dev/null || {
      echo "no $tool here: unpack what third_party/gpu_bundle.sh makes elsewhere, and give it to --build"
      return 1
    }
  done
  limited cmake --preset cuda -DFARFIELD_BUILD_TESTS=ON || return
  limited cmake --build build/cuda -j "$(nproc)" || return
  echo "built build/cuda"
}

# The executables themselves: a tree that was built elsewhere holds paths that are not here, which
# ctest would follow.
part_tests() {
  need_tree || return
  local names name
  mapfile -t names < <(card_tests "$tree")
  ((${#names[@]})) || { echo "no test in $tree has the label gpu"; return 1; }
  count_from_0
  for name in "${names[@]}"; do counted "$name" "$tree/tests/$name" --color_output=no; done
  count_of tests
}

# measure NAME ARGUMENT...: a table by bench, in $out/bench-NAME.csv and, as it grows, in bench-NAME.log.
measure() {
  local name=$1 status=0
  shift
  limited "$tree/bin/bench" "$@" --device cuda --precision bf16 --csv "$out/bench-$name.csv" \
    >"$out/bench-$name.log" 2>&1 || status=$?
  cat "$out/bench-$name.log"
  return $status
}

part_step() {
  need_tree || return
  local status=0 graphs asked
  measure step step "${model[@]}" --posenc $encodings --rounds 5 || status=$?
  measure step-without-graph step "${model[@]}" --posenc $encodings --rounds 5 --cuda-graph off || status=$?
  if ((status)); then
    echo "step: status $status; see $out/bench-step*.log"
    return $status
  fi
  graphs=$(grep -c 'one CUDA graph of' "$out/bench-step.log") || true
  asked=$(tr , '\n' <<<"$encodings" | wc -l)
  if ((graphs != asked)); then  # a capture that fails costs time, not numbers
    grep 'kernel by kernel' "$out/bench-step.log" || true
    echo "step: expected a CUDA graph for each of $asked encodings, got $graphs"
    return 1
  fi
  echo "step: $asked encodings, $graphs CUDA graphs"
}

part_attention() {
  need_tree || return
  measure attention attention --heads 12 --head-dim 64 --tokens $tokens --lengths $lengths \
    --posenc none,alibi,kerple_log,bias_wht || return
  echo "attention: $(($(wc -l <"$out/bench-attention.csv") - 1)) rows in $out/bench-attention.csv"
}

# peer NAME ARGUMENT...: rows by PyTorch, in $out/NAME.csv.
peer() {
  local name=$1 status=0
  shift
  command -v python3 >/dev/null || { echo "no python3 here"; return $skipped; }
  limited python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1 ||
    { echo "no torch with CUDA here"; return $skipped; }
  limited python3 -B "apps/gpu_check/$name.py" --csv "$out/$name.csv" --rounds 5 \
    --seconds $((part_end - SECONDS - 15)) "$@" || status=$?
  if [[ -s $out/$name.csv ]]; then
    echo "$name: $(($(wc -l <"$out/$name.csv") - 1)) rows in $out/$name.csv"
  fi
  return $status
}

part_torch_step() {
  local ours=()
  # "neox-162m, 162.3M parameters, ...": that both measure the same model
  mapfile -t ours < <(sed -nE 's/^neox-162m, ([0-9.]+M) parameters.*/--parameters\n\1/p' "$out/bench-step.log" 2>/dev/null)
  peer torch_step "${ours[@]}" --batch 32 --length 512
}

# The longest first: there time may run out.
part_torch_attention() {
  peer torch_attention --tokens $tokens --lengths "$(tr , '\n' <<<$lengths | tac | paste -sd ,)"
}

# train_again NAME ARGUMENT...: a short training of the same seed, in $out/repeat/NAME.
train_again() {
  local name=$1
  shift
  limited "$tree/bin/train" --device cuda --precision bf16 "${model[@]}" --posenc kerple_log \
    --data "$out/repeat/corpus" --steps 6 --log-every 1 --valid-every 0 --checkpoint-every 0 --keep 1 \
    --seed 3 --out "$out/repeat/$name" "$@" || { local status=$?; echo "repeat: train $name: status $status"; return $status; }
}

# same_training WHAT A B: whether two runs have the same metrics, but for the clock's, and weights.
same_training() {
  local status=0 a=$out/repeat/$2 b=$out/repeat/$3 file differ=''
  cmp -s <(cut -d, -f1-6 "$a/metrics.csv") <(cut -d, -f1-6 "$b/metrics.csv") || differ=' metrics.csv'
  for file in "$a"/checkpoints/step-00000006/*.safetensors; do
    cmp -s "$file" "${file/#$a/$b}" || differ+=" ${file##*/}"
  done
  if [[ -n $differ ]]; then status=1; fi
  check "$1" "train neox-162m" "$([[ -n $differ ]] && echo "DIFFERENT:$differ" || echo 'the same bits')"
  return $status
}

part_repeat() {
  need_tree || return
  local status=0 unfinished=0 test
  mkdir -p "$out/repeat"
  count_from_0
  # What cuBLASLt and attention give twice; test_devices trains twice, on the CPU too.
  for test in test_cuda_gemm:repeated_products_have_the_same_bits test_cuda_attention:two_runs_give_the_same_bits \
      test_cuda_linear:repeated_sums_have_the_same_bits; do
    counted "repeat-${test#*:}" "$tree/tests/${test%:*}" --color_output=no --run_test="*/${test#*:}"
  done
  check "products and attention repeated" tests "$(count_of 'the same bits')"
  if ((${#failed[@]})); then status=1; fi
  limited "$tree/bin/prepare" synthetic topic --documents 64,8,8 --output "$out/repeat/corpus" || return
  train_again graph && train_again again && { same_training "training repeated" graph again || status=1; } &&
    train_again kernels --cuda-graph off && { same_training "with and without a CUDA graph" graph kernels || status=1; } ||
    unfinished=$?
  rm -rf "$out/repeat"  # weights: gigabytes
  if ((unfinished)); then
    echo "repeat: a training did not finish"
    return $unfinished
  fi
  ((status)) && echo "repeat: not the same bits" || echo "repeat: the same bits"
  return $status
}

part_tuned() {
  need_tree || return
  local status=0 unfinished=0
  measure step-tuned step "${model[@]}" --posenc none --rounds 5 --tune on || return
  mkdir -p "$out/repeat"
  limited "$tree/bin/prepare" synthetic topic --documents 64,8,8 --output "$out/repeat/corpus" || return
  train_again tuned --tune on && train_again copied --tune "$out/repeat/tuned/products.json" &&
    { same_training "with the same products.json" tuned copied || status=1; } || unfinished=$?
  cp "$out/repeat/tuned/products.json" "$out/products.json" || unfinished=1
  rm -rf "$out/repeat"
  ((unfinished)) && { echo "tuned: a training did not finish"; return $unfinished; }
  grep '^none: [0-9]* measured' "$out/bench-step-tuned.log" || true
  return $status
}

part_bandwidth() {
  need_tree || return
  local status=0
  measure bandwidth bandwidth || status=$?
  measure forward forward --preset neox-162m --lengths $longest --rounds 3 --posenc alibi,kerple_log || status=$?
  if [[ -s $out/bench-forward.csv ]] && ! awk -F, -v most=$most_mib '
    NR > 1 && $NF > most { bad = 1; print $1 " over " $2 " tokens: expected at most " most " MiB, got " $NF }
    END { exit bad }' "$out/bench-forward.csv"; then
    return 1
  fi
  ((status)) && echo "bandwidth: status $status; see $out/bench-*.log" || echo "bandwidth: 2 tables in $out"
  return $status
}

# sanitize_by TOOL: small shapes of everything, so that a tool that is a thousand times slower ends.
sanitize_by() {
  local tool=$1 name precision status=0 run
  run=(compute-sanitizer --tool "$tool" --error-exitcode 9)
  count_from_0
  for precision in bf16 fp32; do
    counted "$tool-step-$precision" "${run[@]}" "$tree/bin/bench" step --device cuda --precision $precision \
      --preset smoke --train-len 40 --batch 2 --rounds 1 --posenc $encodings --cuda-graph off
    counted "$tool-attention-$precision" "${run[@]}" "$tree/bin/bench" attention --device cuda --precision $precision \
      --lengths 130 --heads 2 --head-dim 64 --rounds 1 --posenc none,alibi,kerple_log,bias_wht
  done
  for name in "${small[@]}"; do counted "$tool-$name" "${run[@]}" "$tree/tests/$name" --color_output=no; done
  count_of "$tool" >"$out/sanitize-$tool.txt" || status=$?
  check "$tool" compute-sanitizer "$(cut -d: -f2- "$out/sanitize-$tool.txt")"
  return $status
}

part_sanitize() {
  need_tree || return
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; return $skipped; }
  local small tool status=0 one pids=()
  mapfile -t small < <(card_tests "$tree" | grep '^test_cuda_')
  for tool in memcheck racecheck initcheck synccheck; do  # side by side: each waits for the host mostly
    sanitize_by "$tool" &
    pids+=($!)
  done
  for one in "${pids[@]}"; do
    wait "$one" || status=$?
  done
  cat "$out"/sanitize-*.txt | paste -sd '|' | sed 's/|/, /g'
  return $status
}
