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
words=()
while (($#)); do
  case $1 in
    --device) words+=(--device cpu) ;;
    --precision) words+=(--precision fp32) ;;
    --preset) words+=(--preset smoke) ;;
    --train-len) words+=(--train-len 16) ;;
    --batch | --heads) words+=("$1" 2) ;;
    --head-dim) words+=(--head-dim 8) ;;
    --tokens) words+=(--tokens 32) ;;
    --lengths) words+=(--lengths 16) ;;
    --rounds) ;;
    --tune)
      if [[ $2 != on && ! -s $2 ]]; then echo "--tune: no $2"; exit 1; fi
      is_tuned=1
      ;;
    bandwidth) words+=(bandwidth --rows 8 --width 16 --vocab-size 11 --weights 100); shift; continue ;;
    *) words+=("$1"); shift; continue ;;
  esac
  shift 2
done
TEXT
program tree/build/bin/bench <<TEXT
[[ \$1 == \$(cat $folder/hanging 2>/dev/null) ]] && exec sleep 1000
source $folder/tiny.sh
$bench "\${words[@]}" --rounds 1 --threads 1 | sed 's/^smoke, [0-9.]*M/neox-162m, 162.3M/' || exit
[[ \${words[0]} == step && ! -e $folder/uncaptured ]] || exit 0
for one in none alibi kerple_log bias_wht fire; do echo "\$one: one CUDA graph of 9 kernels and copies"; done
if [[ \${is_tuned-} ]]; then echo "none: 26 measured, 9 faster"; fi
TEXT
program tree/build/bin/train <<TEXT
[[ -e $folder/other_seed && "\$*" == */again* ]] && set -- "\${@/#3/4}"
source $folder/tiny.sh
$train "\${words[@]}" --threads 1 || exit
if [[ \${is_tuned-} && "\${words[*]}" =~ --out\ ([^ ]+) ]]; then echo {} >"\${BASH_REMATCH[1]}/products.json"; fi
TEXT
program tree/build/bin/prepare <<<"exec $prepare \"\$@\""
for test in test_cuda_gemm test_cuda_attention test_cuda_linear test_devices; do
  program "tree/build/tests/$test" <<<"[[ ! -e $folder/broken-$test ]]"
  echo "add_test([=[$test]=] \"/elsewhere/tests/$test\")"
  echo "set_tests_properties([=[$test]=] PROPERTIES  LABELS \"engine;sanitize;gpu\" TIMEOUT \"600\" WORKING_DIRECTORY \"/elsewhere\")"
done >tree/build/tests/CTestTestfile.cmake
echo 'set_tests_properties([=[test_shape]=] PROPERTIES  LABELS "engine;sanitize" TIMEOUT "600")' >>tree/build/tests/CTestTestfile.cmake
program bin/nvidia-smi <<TEXT
[[ -e $folder/no_card ]] && { echo "NVIDIA-SMI has failed"; exit 9; }
echo "NVIDIA H200, 580.1, 143771 MiB, CUDA Version: 13.0"
TEXT
program bin/compute-sanitizer <<'TEXT'
while [[ $1 == --* ]]; do shift 2; done
exec "$@"
TEXT
program bin/python3 <<'TEXT'
[[ $1 == -c ]] && exit
while (($#)); do
  case $1 in *.py) name=${1##*/} ;; --csv) csv=$2 ;; --parameters) echo "told $2" ;; esac
  shift
done
{
  echo what,by,ms,forward,backward,TFLOP/s,MFU,peak MiB,remark
  if [[ $name == torch_step.py ]]; then
    echo "step none,torch compiled,1000,,,,,77777,"
  else
    echo "attention none 16,torch flash,1000,400,600,,,,"
    echo "attention bias_wht 16,torch flash,,,,,,,skipped: it cannot"
  fi
} >"$csv"
TEXT
export PATH="$folder/bin:$PATH"
check() { status tree/apps/gpu_check.sh --build tree/build --out out "$@"; }
row() { grep -E -- "$2" said >/dev/null || { expect "$1" "a line like '$2'" none; } }

check
expect "a run in which all passes" 0 "$got"
for part in tests step attention torch-step torch-attention repeat tuned bandwidth sanitize; do
  row "$part" "^$part +passed +[0-9]+  "
done
says "the tests for a card, and no others" "tests: 4 of 4 passed"
says "graphs" "step: 5 encodings, 5 CUDA graphs"
for encoding in none alibi kerple_log bias_wht fire; do
  row "step, graph" "^step $encoding +CUDA graph +[0-9.]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+"
  row "step, no graph" "^step $encoding +kernel by kernel +[0-9.]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+"
done
for encoding in none alibi kerple_log bias_wht; do
  row "attention apart" "^attention $encoding 16 +farfield +[0-9.]+ +[0-9.]+ +-?[0-9.]+ +[0-9.]+ +[0-9.]+ %"
done
row "a peer's step beside ours" '^step none +torch compiled +1000 .* 77777 +[0-9]{2,}\.[0-9]{2}'
row "a peer's attention, apart" '^attention none 16 +torch flash +1000 +400 +600 .* [0-9]{2,}\.[0-9]{2}'
row "what a peer cannot" '^attention bias_wht 16 +torch flash +skipped: it cannot'
row "a repeated training" '^training repeated +train neox-162m +the same bits'
row "a graph's training" '^with and without a CUDA graph +train neox-162m +the same bits'
for tool in memcheck racecheck initcheck synccheck; do row "$tool" "^$tool +compute-sanitizer +7 of 7 passed"; done
row "a tuned step" "^step none +CUDA graph tuned +[0-9.]+ +[0-9.]+ +[0-9.]+ % +[0-9.]+"
row "its products" '^tuned +passed .*none: 26 measured, 9 faster'
row "a tuned training" '^with the same products.json +train neox-162m +the same bits'
row "the forward pass" '^forward pass alibi 16 +farfield +[0-9.]+ +[0-9.]+ +[0-9.]+ tokens/s'
row "what memory limits" '^AdamW +farfield .*of copy'
grep -qx 'told 162.3M' out/torch-step.log || expect "the peer's model" "told 162.3M" "$(cat out/torch-step.log)"

touch broken-test_cuda_linear uncaptured
check --only tests,step
expect "a test and a capture that fail" 1 "$got"
row "the test" '^tests +FAILED .*3 of 4 passed; failed: test_cuda_linear\(1\)'
row "the capture" '^step +FAILED .*expected a CUDA graph for each of 5 encodings, got 0'
rm broken-test_cuda_linear uncaptured

touch other_seed
check --only repeat
expect "a training that does not repeat" 1 "$got"
row "what differs" '^training repeated +train neox-162m +DIFFERENT: metrics.csv model.safetensors'
row "what does not" '^with and without a CUDA graph +train neox-162m +the same bits'
rm other_seed

echo attention >hanging
check --minutes 1 --skip repeat,tuned,sanitize
expect "a part that hangs" 1 "$got"
row "its limit" '^attention +TIMED OUT'
row "the next" '^torch-step +passed'
row "the last" '^bandwidth +passed'
rm hanging

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
