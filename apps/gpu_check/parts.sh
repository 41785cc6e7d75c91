# Sourced by apps/gpu_check.sh: parts that test and measure; commands.sh defines a part.

# Attention: heads by their width, and LENGTH:TOKENS. So many tokens that the card is measured, and not
# how fast the host launches.
readonly widths=(64 128)
declare -rA n_heads=([64]=12 [128]=16)
declare -rA sizes=([64]="512:131072 2048:131072 8192:16384" [128]="512:65536 2048:65536 8192:16384")
readonly longest=131072
readonly model=(--preset neox-162m --train-len 512 --batch 32)
readonly encodings=none,alibi,kerple_log,bias_wht,fire peers_encodings=none,alibi,kerple_log
readonly attention_encodings=none,alibi,kerple_log,bias_wht
readonly most_mib=$((80 * 1000 * 1000 * 1000 / 1048576))

count_words() { tr , '\n' <<<"$1" | wc -l; }

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
  local names name most_s=$(((part_end - SECONDS) / 3))
  ((most_s < 20)) || most_s=20  # of one
  mapfile -t names < <(card_tests "$tree")
  ((${#names[@]})) || { echo "no test in $tree has the label gpu"; return 1; }
  count_from_0
  for name in "${names[@]}"; do
    [[ $name == test_cuda_nccl ]] || counted "$name" "$tree/tests/$name" --color_output=no  # `processes`
  done
  count_of tests
}

part_step() {
  need_tree || return
  local status=0 n problems=
  n=$(count_words $encodings)
  measure step step "${model[@]}" --posenc $encodings --rounds 5 && has_graphs step "$n" || status=$?
  measure step-bf16-logits step "${model[@]}" --posenc $peers_encodings --rounds 5 --logits bf16 &&
    has_graphs step-bf16-logits "$(count_words $peers_encodings)" || status=$?
  measure step-without-graph step "${model[@]}" --posenc $encodings --rounds 3 --cuda-graph off || status=$?
  echo "${problems:-step: $n encodings, each a CUDA graph}"
  return $status
}

part_attention() {
  need_tree || return
  local width size status=0 n=0 problems=
  for width in "${widths[@]}"; do
    for size in ${sizes[$width]}; do
      measure "attention-$width-${size%:*}" attention --heads "${n_heads[$width]}" --head-dim "$width" \
        --lengths "${size%:*}" --tokens "${size#*:}" --posenc $attention_encodings --rounds 5 || status=$?
      n=$((n + 1))
    done
  done
  echo "${problems:-attention: heads of ${widths[*]}, $n shapes, $(count_words $attention_encodings) encodings}"
  return $status
}

part_bandwidth() {
  need_tree || return
  local status=0 problems=
  measure matmul matmul "${model[@]}" --rounds 3 || status=$?
  measure bandwidth bandwidth --rounds 3 || status=$?
  measure forward forward --preset neox-162m --lengths $longest --rounds 3 --posenc alibi,kerple_log || status=$?
  if [[ -s $dir/forward.csv ]] && ! awk -F, -v most=$most_mib '
    NR > 1 && $NF > most { bad = 1; print $1 " over " $2 " tokens: expected at most " most " MiB, got " $NF }
    END { exit bad }' "$dir/forward.csv"; then
    return 1
  fi
  echo "${problems:-bandwidth: products, operations, a forward pass}"
  return $status
}
