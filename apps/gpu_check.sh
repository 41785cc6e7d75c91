#!/usr/bin/env bash
# All that a machine with an NVIDIA card is needed for: apps/gpu_check.sh --help
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

# In the order of their worth: what a part leaves of its time is there for those after it.
readonly all_parts=(build tests agree step attention torch-step torch-attention repeat processes tuned
  bandwidth sanitize)
# Seconds of 9 minutes; those of `build` count where there is one.
declare -rA share=([build]=300 [tests]=60 [agree]=30 [step]=75 [attention]=35 [torch-step]=75
  [torch-attention]=90 [repeat]=50 [processes]=45 [tuned]=45 [bandwidth]=30 [sanitize]=50)

usage() {
  cat <<'TEXT'
usage: apps/gpu_check.sh [--only PART,...] [--skip PART,...] [--build DIR] [--out DIR] [--minutes N]

Tests and measures the CUDA side on this machine's NVIDIA card, without a network, and prints one
table. A part that fails does not stop the others.

  build            configures and builds the preset `cuda` into build/cuda: needs the packages of
                   third_party/README.md; elsewhere unpack what third_party/gpu_bundle.sh makes, and
                   give it to --build
  tests            every test that runs on the card, 20 s each at most
  agree            20 steps of the preset smoke in fp32 on the CPU and on the card, under kerple_log,
                   bias_wht, fire and rope + window(64): loss and norm of the gradient, step by step
  step             a training step of neox-162m in bf16, 32 x 512 tokens, under none, alibi,
                   kerple_log, bias_wht and fire, as a CUDA graph and kernel by kernel, and with
                   logits in bf16: time, MFU, peak memory; a step that is not recorded as a CUDA
                   graph fails
  attention        forward and backward apart, 12 heads of 64 and 16 of 128, 131072 tokens (65536 of
                   128) in sequences of 512 and 2048, 16384 in those of 8192: no bias, a fixed bias
                   (alibi), a learned one (kerple_log), bias and weight (bias_wht)
  torch-step       the step with logits in bf16 by PyTorch, compiled
  torch-attention  the same attention by PyTorch: the backends of scaled_dot_product_attention and
                   of FlexAttention, compiled with dynamic=False; heads of 128 without a bias
  repeat           neox-162m on bytes, trained twice as a CUDA graph, once kernel by kernel: the same
                   metrics and weights, to the bit; products, not tuned, and attention repeated
  processes        NCCL with one process, all that one card can show of it; neox-162m trained by a
                   process that was started with the variables of torchrun, and by mpirun -n 1: the
                   metrics and weights of one without a launcher, to the bit. What is missing here,
                   NCCL or mpirun, is named
  tuned            the step under none, with the algorithms of its products measured (--tune on); and
                   neox-162m trained with them, twice: the same metrics and weights, to the bit
  bandwidth        the matrix products of the step; memory-bound operations as a share of the card's
                   copy bandwidth; a forward pass of neox-162m over 131072 tokens, which must fit into
                   80 GB
  sanitize         compute-sanitizer on small shapes and the tests of kernels: memcheck, racecheck,
                   initcheck, synccheck. What there is no time for is listed as not run; alone
                   (--only sanitize) it has the time of all

  --only, --skip   parts, separated by commas; the parts of torch are skipped where python3, torch or
                   its CUDA is missing
  --build DIR      a tree that is built already (the preset cuda-portable, say): no part `build`
  --out DIR        summary.txt, the table in full, and results.tgz, all logs and tables (default:
                   build/gpu_check). Parts that an earlier call has left there, of the same card and
                   build, stay, and their figures stand in the table
  --minutes N      limit of the whole run in minutes, all but 10 s of which are the parts' (default: 9,
                   which fits where a command may take ten). Each part has its share of what is left
  --help           this text

Exit codes: 0 all that ran passed, 1 a part failed, 2 usage error or no card.
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
