#!/usr/bin/env bash
# Every test and measurement that needs an NVIDIA card: apps/gpu_check.sh --help
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
source apps/gpu_check/card_tests.sh
source apps/gpu_check/results.sh
source apps/gpu_check/commands.sh
source apps/gpu_check/parts.sh
source apps/gpu_check/trainings.sh
source apps/gpu_check/processes.sh
source apps/gpu_check/peers.sh
source apps/gpu_check/sanitize.sh
source apps/gpu_check/table.sh

# In order of importance: a part that needs less than its share leaves the time to later parts.
readonly all_parts=(build tests agree step attention torch-step torch-attention repeat processes tuned
  bandwidth sanitize)
# Shares in seconds of 9 minutes; the share of `build` counts only if this part runs.
declare -rA share=([build]=300 [tests]=60 [agree]=30 [step]=75 [attention]=35 [torch-step]=75
  [torch-attention]=90 [repeat]=50 [processes]=45 [tuned]=45 [bandwidth]=30 [sanitize]=50)

usage() {
  cat <<'TEXT'
usage: apps/gpu_check.sh [--only PART,...] [--skip PART,...] [--build DIR] [--out DIR] [--minutes N]

Tests and measures the CUDA side on this machine's NVIDIA card, without a network, and prints one
table. A part that fails does not stop the others. Parts:

  build            configure and build the preset `cuda` into build/cuda. Needs the packages of
                   third_party/README.md. Without them unpack an archive of third_party/gpu_bundle.sh
                   and name it with --build
  tests            every test that runs on the card, 20 s each at most
  agree            20 steps of the preset smoke in fp32 on the CPU and on the card, with kerple_log,
                   bias_wht, fire and rope + window(64): loss and gradient norm must agree at each step
  step             a training step of neox-162m in bf16, 32 x 512 tokens, with none, alibi, kerple_log,
                   bias_wht and fire; as a CUDA graph, kernel by kernel, and with logits in bf16: time,
                   MFU, peak memory. A step that is not recorded as a CUDA graph fails
  attention        forward and backward pass, timed apart: 12 heads of 64 and 16 heads of 128. Sequences
                   of 512 and 2048 tokens, 131072 tokens in all (65536 for heads of 128), and sequences
                   of 8192, 16384 tokens in all. No bias, a fixed bias (alibi), a learned bias
                   (kerple_log), bias and weight (bias_wht)
  torch-step       the step with logits in bf16 in PyTorch, compiled
  torch-attention  the same attention in PyTorch: the backends of scaled_dot_product_attention, and
                   FlexAttention compiled with dynamic=False; heads of 128 without a bias
  repeat           neox-162m on bytes, trained twice as a CUDA graph and once kernel by kernel. Metrics
                   and weights must have the same bits. So must repeated matrix products (not tuned) and
                   repeated attention
  processes        NCCL with one process, which is all that one card can test. neox-162m trained by a
                   process with the variables of torchrun, and by mpirun -n 1: metrics and weights must
                   have the bits of a process without a launcher. The table names NCCL or mpirun if one
                   is missing
  tuned            the step with none and measured algorithms for its matrix products (--tune on).
                   neox-162m trained with these algorithms twice: metrics and weights must have the same
                   bits
  bandwidth        the matrix products of the step; memory-bound operations as a share of the card's
                   copy bandwidth; a forward pass of neox-162m over 131072 tokens, which must fit into
                   80 GB
  sanitize         compute-sanitizer on small shapes and the tests of kernels: memcheck, racecheck,
                   initcheck, synccheck. Tests without enough time are listed as not run. With
                   --only sanitize this part has the time of all parts

  --only, --skip   parts, separated by commas. The parts of torch are skipped if python3, torch or
                   torch's CUDA is missing
  --build DIR      a finished build, for example of the preset cuda-portable; skips the part `build`
  --out DIR        folder of summary.txt (the full table) and results.tgz (all logs and tables; default:
                   build/gpu_check). Results of an earlier call with the same card and build are kept
                   and appear in the table
  --minutes N      time limit of the whole call in minutes; all but 10 s of it go to the parts (default:
                   9, for systems that stop a command after ten). Each part has its share of the time
                   left
  --help           print this help

Exit status: 0 all parts that ran passed, 1 a part failed, 2 usage error or no card.
TEXT
}

stop() {
  echo "gpu_check: $*" >&2
  exit 2
}

# ---- arguments

only=() skip=() out=$PWD/build/gpu_check minutes=9 tree=build/cuda is_prebuilt=false
from=$OLDPWD  # paths of --build and --out are the caller's

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
path_of() { if [[ $1 == /* ]]; then echo "$1"; else echo "$from/$1"; fi; }

while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --only | --skip | --build | --out | --minutes) (($# > 1)) || stop "expected a value after $1" ;;&
    --only) parts_of "$1" "$2" only ;;
    --skip) parts_of "$1" "$2" skip ;;
    --build) tree=$(path_of "$2") is_prebuilt=true ;;
    --out) out=$(path_of "$2") ;;
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
card=$(timeout 30 nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) ||
  stop "$no_card: nvidia-smi says '$(head -n 1 <<<"$card")'"
card=$(head -n 1 <<<"$card")
[[ -n $card ]] || stop "$no_card: nvidia-smi lists no card"
export PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin  # the sanitizer, where the toolkit is not on PATH
if $is_prebuilt; then find_libraries; fi

first_match() { grep -oE "$1" | head -n 1 || true; }
cuda_of_driver=$(timeout 30 nvidia-smi | first_match 'CUDA Version: [0-9.]+') || true
nvcc_version=$(timeout 30 nvcc --version 2>/dev/null | first_match 'release [0-9.]+') || true
echo "card, driver, memory: $card; driver's ${cuda_of_driver:-CUDA version: unknown}; nvcc: ${nvcc_version:-not here}"
open_results
# Holds the driver loaded, too, and says later at what clocks something was measured.
nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu --format=csv -l 1 >>"$work/clocks.txt" 2>&1 </dev/null &
watcher=$!
trap 'kill "$watcher" 2>/dev/null || true; pack_results' EXIT

# ---- run: each part in its own time

SECONDS=0
end=$((minutes * 60 - 10))  # the table, and what must be killed, take some seconds
is_failed=false
for ((i = 0; i < ${#parts[@]}; ++i)); do
  part=${parts[i]} rest=0 dir=$work/${parts[i]}
  for other in "${parts[@]:i}"; do rest=$((rest + share[$other])); done
  begin=$SECONDS
  part_end=$((SECONDS + (end - SECONDS) * share[$part] / rest))
  mkdir -p "$dir"
  status=0
  "part_${part//-/_}" >"$dir/log" 2>&1 </dev/null || status=$?
  case $status in
    0) result=passed ;;
    "$skipped") result=SKIPPED ;;
    "$partial") result='IN PART' ;;
    124 | 137) result='TIMED OUT' is_failed=true ;;
    *) result=FAILED is_failed=true ;;
  esac
  remark=$(grep -v '^$' "$dir/log" | tail -n 1 | cut -c1-400 || true)
  printf '%-16s %-9s %4d s of %4d  %s\n' "$part" "$result" $((SECONDS - begin)) $((part_end - begin)) "$remark" >"$dir/result"
  cut -c1-150 "$dir/result"
  if [[ $result == FAILED || $result == 'TIMED OUT' ]]; then
    grep -v '^$' "$dir/log" | tail -n 4 | head -n 3 | cut -c1-130 | sed 's/^/    /'
  fi
done

collect_rows
print_rows short
{
  echo "$card"
  print_results
  print_rows long
} >"$out/summary.txt"
echo "in full: $out/summary.txt; logs and tables: $out/results.tgz; $SECONDS s in all"
if $is_failed; then exit 1; fi
