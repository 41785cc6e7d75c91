#!/usr/bin/env bash
# All that a machine with an NVIDIA card is needed for: apps/gpu_check.sh --help
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly all_parts=(build tests sanitize bench torch)

usage() {
  cat <<'TEXT'
usage: apps/gpu_check.sh [--only PART,...] [--skip PART,...] [--build DIR] [--out DIR] [--minutes N]

Builds, tests and measures the CUDA side on this machine's NVIDIA card, without a network. A part
that fails does not stop the others; at the end stands one table, and the figures beside those of
PyTorch on the same card.

  build      configures and builds the preset `cuda` into build/cuda
  tests      every test that runs on the card (ctest -L gpu)
  sanitize   compute-sanitizer over test_cuda_*: memcheck, racecheck, initcheck
  bench      attention forward and backward, a training step of neox-162m, its forward pass over
             131072 tokens, which must fit into 80 GB, and memory-bound operations (norms, softmax,
             optimizer) as a share of the card's copy bandwidth; a step that is not recorded as a
             CUDA graph fails
  torch      attention, the step and memory-bound operations by PyTorch; skipped where python3,
             torch or its CUDA is missing

  --only, --skip   parts, separated by commas
  --build DIR      a tree that is built already (the preset cuda-portable, say): no part `build`
  --out DIR        where the logs and tables go (default: build/gpu_check)
  --minutes N      limit of the whole run (default: 9); a part may use what those before left over
  --help           this text

Exit codes: 0 all that ran passed, 1 a part failed, 2 usage error or no card.
TEXT
}

stop() {
  echo "gpu_check: $*" >&2
  exit 2
}

# ---- arguments

only=() skip=() out=build/gpu_check minutes=9 tree=build/cuda is_prebuilt=false

is_part() { [[ " ${all_parts[*]} " == *" $1 "* ]]; }

# parts_of OPTION LIST NAME: the parts of a list into the array of this name.
parts_of() {
  local -n into=$3
  local part
  IFS=, read -ra into <<<"$2"
  ((${#into[@]})) || stop "expected parts after $1, got none"
  for part in "${into[@]}"; do
    is_part "$part" || stop "expected $1 with parts of: ${all_parts[*]}, got '$part'"
  done
}

while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --only | --skip | --build | --out | --minutes) (($# > 1)) || stop "expected a value after $1" ;;&
    --only) parts_of "$1" "$2" only ;;
    --skip) parts_of "$1" "$2" skip ;;
    --build) tree=$2 is_prebuilt=true ;;
    --out) out=$2 ;;
    --minutes) minutes=$2 ;;
    *) usage >&2; stop "unknown argument '$1'" ;;
  esac
  shift 2
done
[[ $minutes =~ ^[1-9][0-9]{0,3}$ ]] || stop "expected --minutes from 1 on, got '$minutes'"
if $is_prebuilt && [[ ! -x $tree/bin/bench ]]; then
  stop "expected a built tree in '$tree', got none with bin/bench"
fi

is_wanted() {
  if $is_prebuilt && [[ $1 == build ]]; then return 1; fi
  if ((${#only[@]})) && [[ " ${only[*]} " != *" $1 "* ]]; then return 1; fi
  [[ " ${skip[*]-} " != *" $1 "* ]]
}
parts=()
for part in "${all_parts[@]}"; do
  if is_wanted "$part"; then parts+=("$part"); fi
done
((${#parts[@]})) || stop "expected at least one part, got none that is left"

# ---- the machine

no_card="expected an NVIDIA card with its driver; ./check needs none"
command -v nvidia-smi >/dev/null || stop "$no_card: got no nvidia-smi"
card=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) ||
  stop "$no_card: nvidia-smi says '$(head -n 1 <<<"$card")'"
[[ -n $card ]] || stop "$no_card: nvidia-smi lists no card"

first_match() { grep -oE "$1" | head -n 1 || true; }
cuda_of_driver=$(nvidia-smi | first_match 'CUDA Version: [0-9.]+') || true
nvcc_version=$(nvcc --version 2>/dev/null | first_match 'release [0-9.]+') || true
echo "card, driver, memory: $(head -n 1 <<<"$card")"
echo "driver's ${cuda_of_driver:-CUDA version: unknown}; nvcc: ${nvcc_version:-not here}"
mkdir -p "$out"
rm -f "$out"/*.csv "$out"/*.log "$out"/summary.txt

# ---- parts: each returns 0, another status for a failure, or 77 for "cannot run here"; its last
# line of output stands in the table

readonly skipped=77

# Runs a command within what is left of this part's time.
limited() {
  local left=$((part_end - SECONDS))
  ((left > 0)) || { echo "no time left"; return 124; }
  timeout --kill-after=5 "$left" "$@"
}

part_build() {
  local tool
  for tool in cmake nvcc; do
    command -v "$tool" >/dev/null || { echo "no $tool here: use --build DIR"; return 1; }
  done
  limited cmake --preset cuda -DFARFIELD_BUILD_TESTS=ON || return
  limited cmake --build build/cuda -j "$(nproc)" || return
  echo "built build/cuda"
}

need_tree() {
  [[ -x $tree/bin/bench ]] || { echo "nothing is built in $tree"; return 1; }
}

# Names of the tests that have a label, as CMake has written them down.
tests_labelled() {
  sed -nE 's/^set_tests_properties\(\[=\[(test_[a-z0-9_]+)\]=\] .* LABELS "([^"]*;)?'"$1"'(;[^"]*)?".*/\1/p' \
    "$tree/tests/CTestTestfile.cmake"
}

# run_all LOG-NAME COMMAND... -- TEST...: each test under the command; says how many passed.
run_all() {
  local name=$1 test command=() failed=() n=0 status
  shift
  while [[ $1 != -- ]]; do command+=("$1"); shift; done
  shift
  for test; do
    status=0
    limited "${command[@]}" "$tree/tests/$test" --color_output=no \
      >"$out/$name-$test.log" 2>&1 || status=$?
    n=$((n + 1))
    if ((status)); then failed+=("$test($status)"); fi
  done
  echo "$name: $((n - ${#failed[@]})) of $n passed${failed[*]:+; failed: ${failed[*]}}"
  ((${#failed[@]} == 0))
}

# The executables themselves: a tree that was built elsewhere holds paths that are not here, which
# ctest would follow.
part_tests() {
  need_tree || return
  local names
  mapfile -t names < <(tests_labelled gpu)
  ((${#names[@]})) || { echo "no test in $tree has the label gpu"; return 1; }
  run_all tests env -- "${names[@]}"
}

part_sanitize() {
  need_tree || return
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; return $skipped; }
  local names tool line lines='' status=0
  mapfile -t names < <(find "$tree/tests" -maxdepth 1 -type f -executable -name 'test_cuda_*' -printf '%f\n' | sort)
  ((${#names[@]})) || { echo "no test_cuda_* in $tree/tests"; return 1; }
  for tool in memcheck racecheck initcheck; do
    line=$(run_all "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 -- "${names[@]}") ||
      status=1
    lines+=${lines:+, }$line
  done
  echo "$lines"
  return $status
}

# measure NAME ARGUMENT...: a table by bench, in $out/bench-NAME.csv.
measure() {
  local name=$1
  shift
  limited "$tree/bin/bench" "$@" --device cuda --csv "$out/bench-$name.csv"
}

readonly tokens=16384 lengths=512,2048,8192 batch=32 longest=131072
readonly most_mib=$((80 * 1000 * 1000 * 1000 / 1048576))

part_bench() {
  need_tree || return
  local status=0 graphs
  measure attention attention --precision bf16 --heads 12 --head-dim 64 --tokens $tokens \
    --lengths $lengths --posenc none,kerple_log || status=1
  measure step step --precision bf16 --preset neox-162m --batch $batch --train-len 512 \
    --posenc none,kerple_log >"$out/bench-step.log" || status=1
  cat "$out/bench-step.log"
  graphs=$(grep -c 'one CUDA graph of' "$out/bench-step.log") || true
  if ((graphs != 2)); then  # a capture that fails costs time, not numbers
    grep 'kernel by kernel' "$out/bench-step.log" || true
    echo "step: expected a CUDA graph for both encodings, got $graphs"
    status=1
  fi
  measure step-without-graph step --precision bf16 --preset neox-162m --batch $batch \
    --train-len 512 --posenc none,kerple_log --cuda-graph off || status=1
  measure forward forward --precision bf16 --preset neox-162m --lengths $longest --rounds 3 \
    --posenc alibi,kerple_log || status=1
  measure bandwidth bandwidth --precision bf16 || status=1
  if [[ -s $out/bench-forward.csv ]] && ! awk -F, -v most=$most_mib '
    NR > 1 && $NF > most { bad = 1; print $1 " over " $2 " tokens: expected at most " most " MiB, got " $NF }
    END { exit bad }' "$out/bench-forward.csv"; then
    status=1
  fi
  ((status)) && echo "bench: see the errors in $out/bench.log" || echo "bench: 5 tables in $out"
  return $status
}

part_torch() {
  command -v python3 >/dev/null || { echo "no python3 here"; return $skipped; }
  limited python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
    { echo "no torch with CUDA here"; return $skipped; }
  limited python3 apps/gpu_check_torch.py --tokens $tokens --lengths $lengths --csv "$out/torch.csv" ||
    return
  echo "torch: $(($(wc -l <"$out/torch.csv") - 1)) rows in $out/torch.csv"
}

# ---- run

# Shares of the time: what a part does not use is there for those after it.
declare -A weight=([build]=12 [tests]=4 [sanitize]=6 [bench]=5 [torch]=4)
declare -A result=() time_s=() remark=()
SECONDS=0
end=$((minutes * 60))
is_failed=false
for ((i = 0; i < ${#parts[@]}; ++i)); do
  part=${parts[i]} rest=0
  for other in "${parts[@]:i}"; do rest=$((rest + weight[$other])); done
  begin=$SECONDS
  part_end=$((SECONDS + (end - SECONDS) * weight[$part] / rest))
  printf '== %-9s ' "$part"
  status=0
  "part_$part" >"$out/$part.log" 2>&1 </dev/null || status=$?
  case $status in
    0) result[$part]=passed ;;
    "$skipped") result[$part]=SKIPPED ;;
    124 | 137) result[$part]='TIMED OUT' ;;
    *) result[$part]=FAILED ;;
  esac
  if ((status != 0 && status != skipped)); then is_failed=true; fi
  time_s[$part]=$((SECONDS - begin))
  remark[$part]=$(grep -v '^$' "$out/$part.log" | tail -n 1 | cut -c1-200 || true)
  printf '%-9s %4d s  %s\n' "${result[$part]}" "${time_s[$part]}" "${remark[$part]}"
done

# ---- the table

# Rows `what,ms` of the tables that bench has written, named as apps/gpu_check_torch.py names them.
figures() {
  local file
  for file in attention step step-without-graph forward bandwidth; do
    [[ -s $out/bench-$file.csv ]] || continue
    awk -F, -v file=$file '
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      file == "attention" { print "attention " $column["encoding"] " " $column["length"] "," $column["ms"] }
      file == "step-without-graph" { print "step without a graph " $column["encoding"] "," $column["ms/step"] }
      file == "step" { print "step " $column["encoding"] "," $column["ms/step"] }
      file == "forward" { print "forward " $column["encoding"] " " $column["length"] "," $column["ms"] }
      file == "bandwidth" { print $column["work"] "," $column["ms"] }
    ' "$out/bench-$file.csv"
  done
}

{
  printf '\n%-10s %-10s %6s  %s\n' part result s remark
  for part in "${parts[@]}"; do
    printf '%-10s %-10s %6d  %s\n' "$part" "${result[$part]}" "${time_s[$part]}" "${remark[$part]}"
  done
  figures >"$out/figures.csv"
  if [[ -s $out/figures.csv ]]; then
    peers=/dev/null
    if [[ ${result[torch]-} == passed ]]; then peers=$out/torch.csv; fi
    printf '\n%-30s %10s %10s %12s  %s\n' figure ms "peer's ms" "ms / peer's" peer
    awk -F, '
      FILENAME == ARGV[1] { if (FNR > 1) { ms[$1] = $2; peer[$1] = $3 } next }
      $1 in ms { printf "%-30s %10s %10s %12.2f  %s\n", $1, $2, ms[$1], $2 / ms[$1], peer[$1]; next }
      { printf "%-30s %10s\n", $1, $2 }
    ' "$peers" "$out/figures.csv"
  fi
  if [[ -s $out/bench-forward.csv ]]; then
    printf '\n%-30s %10s %10s\n' 'forward pass' tokens/s 'peak MiB'
    awk -F, '
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      { printf "%-30s %10s %10s\n", $column["encoding"] " " $column["length"], $column["tokens/s"], $column["peak MiB"] }
    ' "$out/bench-forward.csv"
  fi
  if [[ -s $out/bench-bandwidth.csv ]]; then
    printf '\n%-30s %10s %10s\n' 'limited by memory' GB/s 'of copy'
    awk -F, '
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      { printf "%-30s %10s %10s\n", $column["work"], $column["GB/s"], $column["of copy"] }
    ' "$out/bench-bandwidth.csv"
  fi
} | tee "$out/summary.txt"
echo
echo "logs and tables: $out; $SECONDS s in all"
if $is_failed; then exit 1; fi
