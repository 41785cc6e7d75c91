# Sourced by apps/gpu_check.sh: parts that train, on the card and beside it.

# How far losses and norms of gradients on the card may be from the CPU's, relative to these: sums in
# float32 in another order, and 20 steps of Adam, which makes as much of a small gradient as of a large.
# The emulated device, whose products are summed otherwise than a card's, is within a hundredth of both.
readonly loss_tolerance=1e-4 norm_tolerance=2e-3
readonly agreeing=(kerple_log bias_wht fire 'rope + window(64)')

make_corpus() { limited "$tree/bin/prepare" synthetic topic --documents 64,8,8 --output "$1"; }

part_agree() {
  need_tree || return
  local status=0 one where differ n_agree=0
  make_corpus "$dir/corpus" || return
  for one in "${agreeing[@]}"; do
    for where in cpu cuda; do
      limited "$tree/bin/train" --device $where --precision fp32 --preset smoke --train-len 128 --posenc "$one" \
        --data "$dir/corpus" --steps 20 --log-every 1 --valid-every 0 --checkpoint-every 0 --keep 1 --seed 3 \
        --out "$dir/$where-${one%% *}" >"$dir/train-$where-${one%% *}.log" 2>&1 || {
        status=$?
        tail -n 3 "$dir/train-$where-${one%% *}.log"
        check "20 steps on CPU and card" "$one" "on $where: status $status"
        continue 2
      }
    done
    differ=$(largest_differences "$dir/cpu-${one%% *}/metrics.csv" "$dir/cuda-${one%% *}/metrics.csv") &&
      n_agree=$((n_agree + 1)) || status=1
    check "20 steps on CPU and card" "$one" "$differ"
    cp "$dir/cuda-${one%% *}/metrics.csv" "$dir/metrics-cuda-${one%% *}.csv"
    cp "$dir/cpu-${one%% *}/metrics.csv" "$dir/metrics-cpu-${one%% *}.csv"
    rm -rf "$dir"/c{pu,uda}-"${one%% *}"
  done
  rm -rf "$dir/corpus"
  echo "agree: $n_agree of ${#agreeing[@]} encodings on the CPU and on the card"
  return $status
}

# largest_differences A B: of the losses and norms of gradients of two metrics.csv, as shares; fails
# beyond the tolerances, and where steps are missing or no numbers.
largest_differences() {
  awk -F, -v most_loss=$loss_tolerance -v most_norm=$norm_tolerance '
    function apart(a, b) { return a == b ? 0 : (a > b ? a - b : b - a) / (a < 0 ? -a : a) }
    FNR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { if (tolower($0) ~ /nan|inf/) bad = 1 }
    NR == FNR { loss[$1] = $column["loss"]; norm[$1] = $column["grad_norm"]; ++n; next }
    !($1 in loss) { bad = 1; next }
    {
      ++met
      x = apart(loss[$1], $column["loss"]); if (x > at_loss) at_loss = x
      x = apart(norm[$1], $column["grad_norm"]); if (x > at_norm) at_norm = x
    }
    END {
      bad = bad || n == 0 || met != n || at_loss > most_loss || at_norm > most_norm
      printf "%sloss within %.1e; gradient norm within %.1e; %d steps\n", bad ? "DIFFERENT: " : "", at_loss, at_norm, met
      exit bad
    }' "$1" "$2"
}

# train_again NAME ARGUMENT...: a short training of neox-162m, of the same seed, in $dir/runs/NAME.
train_again() {
  local name=$1 status=0
  shift
  limited "$tree/bin/train" --device cuda --precision bf16 "${model[@]}" --posenc kerple_log \
    --data "$dir/runs/corpus" --steps 6 --log-every 1 --valid-every 0 --checkpoint-every 0 --keep 1 \
    --seed 3 --out "$dir/runs/$name" "$@" >"$dir/train-$name.log" 2>&1 || status=$?
  if ((status)); then
    tail -n 5 "$dir/train-$name.log"
    echo "train $name: status $status"
    return $status
  fi
  [[ " $* " == *' --cuda-graph off '* ]] || grep -q 'a step is one CUDA graph of' "$dir/train-$name.log" || {
    grep 'not a CUDA graph' "$dir/train-$name.log" || true
    check "training as a CUDA graph" "train neox-162m" "NOT RECORDED: $name"
    is_recorded=false
  }
}

# same_training WHAT A B: whether two runs have the same metrics, but for the clock's, and weights.
same_training() {
  local status=0 a=$dir/runs/$2 b=$dir/runs/$3 file differ=''
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
  local status=0 unfinished=0 test is_recorded=true
  mkdir -p "$dir/runs"
  count_from_0
  # Repeats products of cuBLASLt, not tuned, and attention; test_devices trains twice, on the CPU
  # too.
  for test in test_cuda_gemm:repeated_products_have_the_same_bits \
      test_cuda_linear:repeated_sums_have_the_same_bits \
      test_cuda_linear:repeated_gradients_of_weight_and_bias_have_the_same_bits \
      test_cuda_attention:two_runs_give_the_same_bits \
      test_cuda_repeats:linear_layers_and_their_gradients_repeat_to_the_bit \
      test_cuda_repeats:the_head_and_its_gradients_repeat_to_the_bit; do
    counted "${test#*:}" "$tree/tests/${test%:*}" --color_output=no --run_test="*/${test#*:}"
  done
  check "kernels repeated" tests "$(count_of 'the same bits')"
  if ((${#failed[@]})); then status=1; fi
  make_corpus "$dir/runs/corpus" || return
  train_again graph && train_again again && { same_training "training repeated" graph again || status=1; } &&
    train_again kernels --cuda-graph off && { same_training "training without a graph" graph kernels || status=1; } ||
    unfinished=$?
  rm -rf "$dir/runs"  # weights: gigabytes
  if ((unfinished)); then
    echo "repeat: a training did not finish"
    return $unfinished
  fi
  if ! $is_recorded; then
    echo "repeat: a training was not recorded as a CUDA graph"
    return 1
  fi
  ((status)) && echo "repeat: not the same bits" || echo "repeat: the same bits"
  return $status
}

part_tuned() {
  need_tree || return
  local status=0 unfinished=0 is_recorded=true problems=
  measure step-tuned step "${model[@]}" --posenc none --rounds 5 --tune on || return
  has_graphs step-tuned 1 || status=$?
  mkdir -p "$dir/runs"
  make_corpus "$dir/runs/corpus" || return
  train_again tuned --tune on && train_again copied --tune "$dir/runs/tuned/products.json" &&
    { same_training "training same products" tuned copied || status=1; } || unfinished=$?
  cp "$dir/runs/tuned/products.json" "$dir/products.json" || unfinished=1
  rm -rf "$dir/runs"
  ((unfinished)) && { echo "tuned: a training did not finish"; return $unfinished; }
  $is_recorded || { echo "tuned: a training was not recorded as a CUDA graph"; return 1; }
  if [[ $problems ]]; then echo "$problems"; else grep '^none: [0-9]* measured' "$dir/step-tuned.log" || true; fi
  return $status
}
