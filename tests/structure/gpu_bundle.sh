#!/usr/bin/env bash
# gpu_bundle.sh SOURCE: what third_party/gpu_bundle.sh packs and refuses, with a cmake of our own that
# builds nothing.
set -uo pipefail
source_dir=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
source "$source_dir/tests/support/expect.sh"
mkdir -p bin tree/apps tree/third_party
cp -r "$source_dir"/apps/{gpu_check.sh,gpu_check,card_run.sh} tree/apps/
cp "$source_dir/third_party/gpu_bundle.sh" tree/third_party/

program() {  # FILE: one of bash with the text of standard input
  { echo '#!/bin/bash'; cat; } >"$1"
  chmod +x "$1"
}
program bin/cmake <<'TEXT'
echo "cmake $*" >>"${0%/*}/calls"
if [[ $1 == --preset ]]; then
  mkdir -p build/cuda-portable/bin build/cuda-portable/tests
  for test in test_cuda_{attention,cross_entropy,gemm} test_kernels test_step_graph; do
    echo "set_tests_properties([=[$test]=] PROPERTIES  LABELS \"engine;gpu\" TIMEOUT \"600\")"
  done >build/cuda-portable/tests/CTestTestfile.cmake
  exit
fi
[[ -e ${0%/*}/broken ]] && exit 1
cd build/cuda-portable || exit
for one in bin/{bench,eval,inspect,prepare,sweep,train} tests/test_{cuda_{attention,cross_entropy,gemm},kernels,step_graph}; do
  printf '#!/bin/bash\necho %s\n' "$one" >"$one"
  chmod +x "$one"
done
TEXT
program bin/strip <<<'cp "$3" "$2"'  # -o TO FROM
program bin/readelf <<'TEXT'
for library in libcublasLt.so.13 libc.so.6 $(cat "${0%/*}/foreign" 2>/dev/null); do
  echo " 0x0000000000000001 (NEEDED)             Shared library: [$library]"
done
TEXT
for tool in ninja nvcc; do program bin/$tool <<<true; done
export PATH="$folder/bin:$PATH"
make_bundle() { status tree/third_party/gpu_bundle.sh "$@"; }

make_bundle --out there/bundle.tar.xz
expect "a bundle" 0 "$got"
says "its size" "6 programs and 5 tests for 90a-real: 0.0 MiB"
says "the way without xz" "without xz there: python3 -m tarfile -e bundle.tar.xz"
grep -q -- '--preset cuda-portable -DCMAKE_CUDA_ARCHITECTURES=90a-real' bin/calls || expect "the architecture" 90a-real "$(cat bin/calls)"
tar -C there -xJf there/bundle.tar.xz
expect "a program there" bin/bench "$(there/farfield-gpu/build/bin/bench)"
program bin/nvidia-smi <<<'echo "NVIDIA H200, 580.1, 143771 MiB"'
status there/farfield-gpu/apps/gpu_check.sh --build there/farfield-gpu/build --out out --only tests
expect "the tests there" 0 "$got"
says "the tests there" "tests: 5 of 5 passed"

echo words >text.txt
mkdir tokenizer
echo '{}' >tokenizer/tokenizer.json
make_bundle --out with/bundle.tar.xz --text text.txt --tokenizer tokenizer --tests test_kernels
expect "a bundle with text" 0 "$got"
says "its size" "3 programs and 1 tests"
tar -C with -xJf with/bundle.tar.xz
expect "text there" words "$(cat with/farfield-gpu/text/text.txt)"
[[ -s with/farfield-gpu/tokenizer/tokenizer.json && -x with/farfield-gpu/apps/card_run.sh ]] ||
  expect "tokenizer and script there" both "$(ls -R with)"
status with/farfield-gpu/apps/gpu_check.sh --build with/farfield-gpu/build --out out2 --only tests
says "the test there" "tests: 1 of 1 passed"
make_bundle --text text.txt
expect "text without a tokenizer" 2 "$got"
make_bundle --tests test_nothing
expect "an unknown test" 2 "$got"
says "an unknown test" "got 'test_nothing'"

echo libboost_filesystem.so.1.74.0 >bin/foreign
make_bundle
expect "a foreign library" 1 "$got"
says "its name" "expected bench to need the libraries of CUDA and C alone, got libboost_filesystem.so.1.74.0"
rm bin/foreign
truncate -s 61M tree/large
git -C tree init -q && git -C tree add -N large
make_bundle
expect "too large" 1 "$got"
says "how large" "expected at most 60.0 MiB together with the source tree, got 61.0 MiB"
rm -rf tree/large tree/.git
touch bin/broken
make_bundle
expect "a build that fails" 1 "$got"
make_bundle --arch 90,100
expect "two architectures" 2 "$got"
says "which" "got '90,100'"
if [[ ! -e /usr/bin/nvcc && ! -e /bin/nvcc ]]; then
  rm bin/nvcc
  PATH=$folder/bin:/usr/bin:/bin make_bundle
  expect "no nvcc" 2 "$got"
  says "what is missing" "expected nvcc on PATH"
fi
((failed)) || echo "gpu_bundle: passed"
exit $failed
