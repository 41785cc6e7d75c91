# Sourced by apps/gpu_check.sh: parts that have PyTorch do the same.

# Whether there is a torch with CUDA; 124: no time to find out.
has_torch() {
  command -v python3 >/dev/null || { echo "no python3 here"; return $skipped; }
  local status=0
  limited_other python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1 || status=$?
  case $status in
    0) ;;
    124 | 137) echo "no time to import torch"; return $partial ;;
    *) echo "no torch with CUDA here"; return $skipped ;;
  esac
}

# measured_of WHAT FILE...: a remark.
measured_of() {
  local what=$1
  shift
  echo "$what: $(cat "$@" | grep -c ',[0-9][0-9.]*,') measured, $(cat "$@" | grep -c 'no time left') not begun or ended for time"
}

# peer SCRIPT NAME ARGUMENT...: rows by PyTorch, in $dir/NAME.csv. It stops itself some seconds
# before its time limit: measurements without time become rows that say so.
peer() {
  local script=$1 name=$2 status=0 until
  shift 2
  has_torch || return
  until=$(($(date +%s) + part_end - SECONDS - 8))
  limited_other python3 -B "apps/gpu_check/$script.py" --csv "$dir/$name.csv" --rounds 5 --until "$until" "$@" || status=$?
  if [[ -s $dir/$name.csv ]]; then
    measured_of "$name" "$dir/$name.csv"
    if ((status == 0)) && grep -q 'no time left' "$dir/$name.csv"; then status=$partial; fi
  fi
  return $status
}

part_torch_step() {
  local parameters=()
  # "neox-162m, 162.3M parameters, ...": that both measure the same model
  mapfile -t parameters < <(sed -nE 's/^neox-162m, ([0-9.]+M) parameters.*/--parameters\n\1/p' "$work/step/step.log" 2>/dev/null)
  peer torch_step torch_step "${parameters[@]}" --posenc none,kerple_log,alibi --batch 32 --length 512
}

# All encodings for the first width, only none for the others. The longest come first, since time
# may run out.
part_torch_attention() {
  local width status=0 of_one posenc=$attention_encodings
  for width in "${widths[@]}"; do
    of_one=0
    peer torch_attention "torch_attention-$width" --heads "${n_heads[$width]}" --head-dim "$width" \
      --sizes "$(tr ' ' '\n' <<<"${sizes[$width]}" | tac | paste -sd ,)" --posenc "$posenc" || of_one=$?
    if ((status == 0 || status == partial && of_one)); then status=$of_one; fi
    posenc=none
  done
  if compgen -G "$dir/torch_attention-*.csv" >/dev/null; then measured_of torch_attention "$dir"/torch_attention-*.csv; fi
  return $status
}
