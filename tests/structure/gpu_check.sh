#!/usr/bin/env bash
# gpu_check.sh SOURCE BENCH TRAIN PREPARE: apps/gpu_check.sh on a machine that seems to have a card: our
# programs on the CPU at tiny shapes, tests and vendor's programs of our own.
set -uo pipefail
source_dir=$1 bench=$2 train=$3 prepare=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
source "$source_dir/tests/support/expect.sh"
mkdir -p bin tree/apps tree/build/bin tree/build/tests
cp -r "$source_dir/apps/gpu_check.sh" "$source_dir/apps/gpu_check" tree/apps/

program() {  # FILE: one of bash with the text of standard input
  { echo '#!/bin/bash'; cat; } >"$1"
  chmod +x "$1"
}
# Words for a card and neox-162m, changed to some for the CPU and a tiny model.
cat >tiny.sh <<'TEXT'
words=() posenc='' is_tuned='' has_graph=1
while (($#)); do
  case $1 in
    --device) words+=(--device cpu) ;;
    --preset) words+=(--preset smoke) ;;
    --train-len) words+=(--train-len 16) ;;
    --batch | --heads) words+=("$1" 2) ;;
    --head-dim) words+=(--head-dim $(($2 / 8))) ;;
    --tokens) words+=(--tokens 32) ;;
    --lengths) words+=(--lengths $((2 + ${#2} * 2))) ;;  # 512: 8, 2048 and 8192: 10, 131072: 14
    --rounds) ;;
    --tune)
      if [[ $2 != on && ! -s $2 ]]; then echo "--tune: no $2"; exit 1; fi
      is_tuned=1
      ;;
    bandwidth) words+=(bandwidth --rows 8 --width 16 --vocab-size 11 --weights 100); shift; continue ;;
    --posenc) posenc=$2 words+=("$1" "$2") ;;
    --cuda-graph) has_graph='' words+=("$1" "$2") ;;
    --*) words+=("$1" "$2") ;;
    *) words+=("$1"); shift; continue ;;
  esac
  shift 2
done
TEXT
program tree/build/bin/bench <<TEXT
[[ \$1 == \$(cat $folder/hanging 2>/dev/null) ]] && exec sleep 1000
[[ -e $folder/needs_library && \$LD_LIBRARY_PATH != $folder/cuda/lib64* ]] && exit 127
source $folder/tiny.sh
$bench "\${words[@]}" --rounds 1 --threads 1 | sed 's/^smoke, [0-9.]*M/neox-162m, 162.3M/' || exit
[[ \${words[0]} == step && \$has_graph && ! -e $folder/uncaptured ]] || exit 0
for one in \${posenc//,/ }; do echo "\$one: one CUDA graph of 9 kernels and copies"; done
if [[ \$is_tuned ]]; then echo "none: 26 measured, 9 faster"; fi
TEXT
program tree/build/bin/train <<TEXT
[[ -e $folder/other_seed && "\$*" == */again* ]] && set -- "\${@/#3/4}"
[[ -e $folder/other_card && "\$*" == */cuda-fire* ]] && set -- "\${@/#3/4}"
source $folder/tiny.sh
$train "\${words[@]}" --threads 1 || exit
[[ ! \$has_graph || -e $folder/uncaptured_training ]] || echo "[train] from here on a step is one CUDA graph of 9 kernels and copies"
if [[ \$is_tuned && "\${words[*]}" =~ --out\ ([^ ]+) ]]; then echo {} >"\${BASH_REMATCH[1]}/products.json"; fi
TEXT
program tree/build/bin/prepare <<<"exec $prepare \"\$@\""
for test in test_cuda_gemm test_cuda_attention test_cuda_linear test_cuda_nccl test_cuda_repeats test_devices test_kernels test_step_graph; do
  program "tree/build/tests/$test" <<TEXT
[[ -e $folder/hanging-$test ]] && exec sleep 1000
[[ ! -e $folder/broken-$test ]]
TEXT
  echo "add_test([=[$test]=] \"/elsewhere/tests/$test\")"
  echo "set_tests_properties([=[$test]=] PROPERTIES  LABELS \"engine;sanitize;gpu\" TIMEOUT \"600\" WORKING_DIRECTORY \"/elsewhere\")"
done >tree/build/tests/CTestTestfile.cmake
echo 'set_tests_properties([=[test_shape]=] PROPERTIES  LABELS "engine;sanitize" TIMEOUT "600")' >>tree/build/tests/CTestTestfile.cmake
program bin/nvidia-smi <<TEXT
[[ -e $folder/no_card ]] && { echo "NVIDIA-SMI has failed"; exit 9; }
if [[ "\$*" == *clocks.sm* ]]; then echo "1980 MHz, 400 W, 50"; exec sleep 1000; fi
echo "NVIDIA \$(cat $folder/card 2>/dev/null || echo H200), 580.1, 143771 MiB, CUDA Version: 13.0"
TEXT
program bin/compute-sanitizer <<TEXT
[[ \$1 == --help ]] && { echo "  --launch-timeout arg"; exit; }
[[ \$FARFIELD_KEEP_BLOCKS == 0 && "\$*" == *"--launch-timeout 60"* ]] || exit 3
[[ \$2 == racecheck && "\$*" == */\$(cat $folder/racing 2>/dev/null)\ * ]] && exit 9
while [[ \$1 == --* ]]; do shift 2; done
echo "\${1##*/}" >>$folder/sanitized
exec "\$@"
TEXT
program bin/python3 <<TEXT
if [[ \$1 == -c ]]; then [[ ! -e $folder/no_torch ]]; exit; fi
[[ -z \${LD_LIBRARY_PATH-} ]] || exit 3
TEXT
cat >>bin/python3 <<'TEXT'
while (($#)); do
  case $1 in *.py) name=${1##*/} ;; --csv) csv=$2 ;; --parameters) echo "told $2" ;; --until) until=$2 ;; --sizes) sizes=$2 ;; --head-dim) width=$2 ;; --posenc) posenc=$2 ;; esac
  shift
done
((until > $(date +%s) && until < $(date +%s) + 600)) || exit 4
{
  echo what,by,ms,forward,backward,TFLOP/s,MFU,peak MiB,remark
  if [[ $name == torch_step.py ]]; then
    echo "step none bf16 logits,torch 2.11.0 cuDNN,1000,,,,,77777,"
    echo "step kerple_log bf16 logits,torch 2.11.0 flex,,,,,,,skipped here and below: no time left"
  else
    [[ $width:$sizes == 64:8192:16384,2048:131072,512:131072 || $width:$sizes == 128:8192:16384,2048:65536,512:65536 ]] || exit 5
    of=$([[ $width == 64 ]] || echo "$width ")
    for length in 8 10; do
      for one in ${posenc//,/ }; do
        echo "attention $of$one $length,torch 2.11.0 flash,1000,400,600,,,12,"
        echo "attention $of$one $length,torch 2.11.0 flex Triton,900,300,600,,,12,"
        echo "attention $of$one $length,torch 2.11.0 efficient,,,,,,,skipped here and below: it cannot"
      done
    done
  fi
} >"$csv"
TEXT
real_python=$(command -v python3)
export PATH="$folder/bin:$PATH"
unset LD_LIBRARY_PATH
check() { status tree/apps/gpu_check.sh --build tree/build --out out "$@"; }
row() { grep -E -- "$2" said >/dev/null || { expect "$1" "a line like '$2'" none; } }

mkdir out && touch out/mine.csv
check --minutes 8
expect "a run in which all passes" 0 "$got"
for part in tests agree step attention torch-attention repeat processes tuned bandwidth sanitize; do
  row "$part" "^$part +passed +[0-9]+ s of +[0-9]+  "
done
row "what there was no time for" '^torch-step +IN PART .*torch_step: 1 measured, 1 not begun'
(($(wc -c <said) < 12000)) || expect "what stands in a terminal" "less than 12000 characters" "$(wc -c <said)"
expect "files" "mine.csv results.tgz summary.txt" "$(echo out/* | sed 's|out/||g')"
tar -xzf out/results.tgz
says "the tests for a card, and no others" "tests: 7 of 7 passed"
says "graphs" "step: 5 encodings, each a CUDA graph"
for encoding in none alibi kerple_log bias_wht fire; do
  row "step, graph" "^step $encoding +CUDA graph +[0-9.]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+"
  row "step, no graph" "^step $encoding +kernel by kernel +[0-9.]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+"
done
for encoding in none alibi kerple_log bias_wht; do
  for of in '' '128 '; do row "attention apart" "^attention $of$encoding 8 +farfield +[0-9.]+ +[0-9.]+ +-?[0-9.]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+$"; done
done
row "rounded logits" '^step kerple_log bf16 logits +CUDA graph'
row "a peer's step beside ours" '^step none bf16 logits +torch 2.11.0 cuDNN +1000 .* 77777 +[0-9]+\.[0-9]{2}$'
row "the peers' attention" '^torch-attention +passed .*torch_attention: 20 measured, 0 not begun'
row "a peer's attention, heads of 128" '^attention 128 none 10 +torch 2.11.0 flex Triton +900 '
row "a peer's attention, the fastest" '^attention none 8 +torch 2.11.0 flex Triton +900 +300 +600 .* 12 +[0-9]+\.[0-9]{2}$'
if grep -qE 'torch 2.11.0 (flash|efficient)' said; then expect "a short table" "the fastest peer" all; fi
grep -qE '^attention none 8 +torch 2.11.0 flash' out/summary.txt || expect "the table in full" "all peers" fewer
grep -qE '^attention bias_wht 8 +torch 2.11.0 efficient +skipped here and below: it cannot' out/summary.txt ||
  expect "the table in full" "what a peer cannot" "$(cat out/summary.txt)"
grep -q '1980 MHz' parts/clocks.txt || expect "clocks" "1980 MHz" none
for encoding in kerple_log bias_wht fire 'rope \+ window\(64\)'; do
  row "CPU and card" "^20 steps on CPU and card +$encoding +loss within 0.0e\+00; gradient norm within 0.0e\+00; 20 steps"
done
row "a repeated training" '^training repeated +train neox-162m +the same bits'
row "a graph's training" '^training without a graph +train neox-162m +the same bits'
row "repeated products" '^kernels repeated +tests +the same bits: 6 of 6 passed'
row "NCCL" '^NCCL with one process +test_cuda_nccl +passed: 1 of 1 passed'
row "a launcher" '^training by variables +train neox-162m +the same bits'
row "launchers" '^processes +passed .*NCCL and launchers with one process; not here: mpirun'
for tool in memcheck racecheck synccheck; do row "$tool" "^$tool +compute-sanitizer +9 of 9 passed"; done
row "initcheck" "^initcheck +compute-sanitizer +8 of 8 passed"
expect "what is sanitized last" test_cuda_attention "$(tail -n 1 sanitized)"
row "a tuned step" "^step none +CUDA graph tuned +[0-9.]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+"
row "its products" '^tuned +passed .*none: 26 measured, 9 faster'
row "a tuned training" '^training same products +train neox-162m +the same bits'
row "the forward pass" '^forward alibi 14 +farfield +[0-9.]+ +[0-9.]+ +[0-9.]+ tokens/s'
row "what memory limits" '^AdamW +farfield .*of copy'
row "products" '^product all of a step +farfield'
grep -qx 'told 162.3M' parts/torch-step/log || expect "the peer's model" "told 162.3M" "$(cat parts/torch-step/log)"

check --only torch-step
expect "a later call" 0 "$got"
row "its figures beside those of the earlier one" '^step none bf16 logits +torch 2.11.0 cuDNN +1000 .* [0-9]+\.[0-9]{2}$'
grep -qE '^tests +passed .*\(an earlier call\)$' out/summary.txt || expect "an earlier part" "an earlier call" "$(cat out/summary.txt)"
echo H100 >card
check --only torch-step
says "another card" "results in $folder/out are of another card or build"
if grep -q 'farfield' said; then expect "figures of another card" none some; fi
expect "files" "mine.csv results-earlier.tgz results.tgz summary.txt" "$(echo out/* | sed 's|out/||g')"
rm -r card out

touch broken-test_cuda_linear uncaptured uncaptured_training other_card
check --only tests,agree,step,repeat,tuned
expect "a test and a capture that fail" 1 "$got"
row "the test" '^tests +FAILED .*6 of 7 passed; failed: test_cuda_linear\(1\)'
row "a card that computes something else" '^agree +FAILED .*3 of 4 encodings'
row "which" '^20 steps on CPU and card +fire +DIFFERENT: loss within'
row "the capture" '^step +FAILED '
says "the capture" "step: expected a CUDA graph for each of 5 encodings, got 0; step-bf16-logits: expected"
row "what was measured without" '^step none +kernel by kernel tuned'
row "a training's capture" '^training as a CUDA graph +train neox-162m +NOT RECORDED: graph'
row "repeat" '^repeat +FAILED .*not recorded as a CUDA graph'
row "tuned" '^tuned +FAILED .*not recorded as a CUDA graph'
rm broken-test_cuda_linear uncaptured uncaptured_training other_card

touch other_seed
check --only repeat
expect "a training that does not repeat" 1 "$got"
row "what differs" '^training repeated +train neox-162m +DIFFERENT: metrics.csv model.safetensors'
row "what does not" '^training without a graph +train neox-162m +the same bits'
rm other_seed

echo attention >hanging
touch no_torch hanging-test_kernels
check --minutes 1 --skip agree,repeat,processes,tuned,sanitize
expect "a part that hangs" 1 "$got"
row "its limit" '^attention +TIMED OUT'
row "a test's limit" '^tests +TIMED OUT .*6 of 7 passed; failed: test_kernels\(124\)'
row "no torch" '^torch-step +SKIPPED .*no torch with CUDA here'
row "the last" '^bandwidth +passed'
rm hanging no_torch

echo test_cuda_gemm >racing
check --minutes 1 --only sanitize
expect "a race" 1 "$got"
row "the part" '^sanitize +FAILED'
row "which" '^racecheck +compute-sanitizer +7 of 9 passed; failed: test_cuda_gemm\(9\); not run: test_kernels'
row "what was not run" '^memcheck +compute-sanitizer +8 of 9 passed; not run: test_kernels'
rm racing
check --minutes 1 --only sanitize
expect "what is not run" 0 "$got"
row "the part" '^sanitize +IN PART'
rm hanging-test_kernels

# Without NCCL; with mpirun, and a launcher that changes the training.
program bin/ldd <<<'[[ $1 == *nccl ]] && echo "	libnccl.so.2 => not found" || echo "	libmpi.so.40 => /usr/lib/libmpi.so.40"'
program bin/mpirun <<TEXT
[[ "\$*" == "-n 1 --bind-to none "* ]] || exit 3
shift 4
[[ -e $folder/other_launcher ]] && set -- "\${@/#3/4}"
exec "\$@"
TEXT
check --only processes
expect "launchers without NCCL" 0 "$got"
row "what is missing" '^processes +passed .*with one process; not here: NCCL$'
row "mpirun" '^training by mpirun +train neox-162m +the same bits'
touch other_launcher
check --only processes
expect "a launcher that changes a training" 1 "$got"
row "which" '^training by mpirun +train neox-162m +DIFFERENT: '
rm bin/mpirun other_launcher

# cuBLASLt and NCCL are outside of the linker's paths: our programs get their folders, the peers do
# not.
program bin/ldd <<<'for one in libcublasLt.so.13 libnccl.so.2; do echo "	$one => not found"; done'
mkdir -p cuda/lib64 && touch cuda/lib64/lib{cublasLt.so.13,nccl.so.2} needs_library
CUDA_HOME=$folder/cuda check --only step,torch-step
expect "a library elsewhere" 0 "$got"
row "ours" '^step +passed'
row "the peers" '^torch-step +IN PART'
rm bin/ldd needs_library

# The peers at the end of their time, with a torch that has nothing.
if [[ $real_python ]]; then
  touch torch.py
  cat >rows.py <<'TEXT'
import argparse, sys, time
sys.path[:0] = [sys.argv[1], "."]
from torch_timing import Rows, finish
rows = Rows(argparse.Namespace(csv="rows.csv", until=time.time() + 5))
def slow():
    try:
        time.sleep(60)
    except Exception:  # as a compiler might
        time.sleep(60)
def broken(): raise RuntimeError("no kernel, none")
rows.measure("a", "x", lambda: {"ms": 1})
rows.measure("a", "y", broken)
rows.measure("b", "x", slow, must_run=True)
rows.measure("c", "z", lambda: {"ms": 1})
finish(rows)
TEXT
  begin=$SECONDS
  status timeout 30 "$real_python" -B rows.py "$source_dir/apps/gpu_check"
  expect "peers out of time" 0 "$got"
  ((SECONDS - begin < 20)) || expect "their time" "5 s" "$((SECONDS - begin)) s"
  expect "their rows" 'a,x,1,,,,,,|a,y,,,,,,,skipped here and below: no kernel; none|b,x,,,,,,,skipped here and below: no time left|c,z,,,,,,,skipped here and below: no time left' \
    "$(tail -n +2 rows.csv | paste -sd '|')"
fi

check --only tests,sanitise
expect "a part that there is not" 2 "$got"
says "its name" "got 'sanitise'"
status tree/apps/gpu_check.sh --build nowhere
expect "no tree" 2 "$got"
says "which" "expected a built tree in '$folder/nowhere'"
touch no_card
check
expect "no card" 2 "$got"
says "why" "nvidia-smi says 'NVIDIA-SMI has failed'"

# The peers' model is the preset.
grep -q '"neox-162m", model(12, 12, 768, 50304, 512)' "$source_dir/layers/config.cpp" || {
  echo "the preset neox-162m is not what this test knows"
  failed=1
}
for option in layers:12 heads:12 width:768 vocab-size:50304 length:512 batch:32; do
  grep -q -- "\"--${option%:*}\", type=int, default=${option#*:}" "$source_dir/apps/gpu_check/torch_step.py" ||
    expect "torch_step.py" "--${option%:*} of ${option#*:}" another
done
((failed)) || echo "gpu_check: passed"
exit $failed
