#!/usr/bin/env bash
# Packs programs and tests for a machine with an NVIDIA card and no package manager:
# third_party/gpu_bundle.sh --help
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
source apps/gpu_check/card_tests.sh

usage() {
  cat <<'TEXT'
usage: third_party/gpu_bundle.sh [--arch ARCH] [--out FILE] [--jobs N]
                                 [--text PATH --tokenizer PATH] [--tests NAME,...]

Builds the preset `cuda-portable` for one architecture, and packs what apps/gpu_check.sh and
apps/card_run.sh need on a machine without compilers: stripped programs, tests for a card, and the
scripts. This machine needs nvcc and the packages of third_party/README.md, but no card.

  --arch ARCH   CMAKE_CUDA_ARCHITECTURES (default: 90a-real, the H100 and the H200)
  --out FILE    the archive (default: build/gpu_bundle.tar.xz)
  --jobs N      compilers at once (default: as many as processors)
  --text PATH, --tokenizer PATH
                a corpus for apps/card_run.sh, as third_party/debian_text.sh packs it, and the folder
                or file of its tokenizer. These leave room for a few tests only (see --tests)
  --tests NAME,...
                pack only these tests for a card (default: all; with --text the tests of kernels,
                which take seconds)
  --help        print this help

On the machine with the card:
        tar -xJf gpu_bundle.tar.xz && farfield-gpu/apps/gpu_check.sh --build farfield-gpu/build
        farfield-gpu/apps/card_run.sh --build farfield-gpu/build
Without xz: python3 -m tarfile -e gpu_bundle.tar.xz

Exit status: 0 done, 1 the build failed or the archive is too large, 2 usage error or a missing tool.
TEXT
}

stop() {  # STATUS WORD...
  echo "gpu_bundle: ${*:2}" >&2
  exit "$1"
}

arch=90a-real out=build/gpu_bundle.tar.xz jobs=$(nproc) text='' tokenizer='' wanted=()
from=$OLDPWD  # paths are the caller's
path_of() { if [[ $1 == /* ]]; then echo "$1"; else echo "$from/$1"; fi; }
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --arch | --out | --jobs | --text | --tokenizer | --tests) (($# > 1)) || stop 2 "expected a value after $1" ;;&
    --arch) arch=$2 ;;
    --out) out=$(path_of "$2") ;;
    --jobs) jobs=$2 ;;
    --text) text=$(path_of "$2") ;;
    --tokenizer) tokenizer=$(path_of "$2") ;;
    --tests) IFS=, read -ra wanted <<<"$2" ;;
    *) usage >&2; stop 2 "unknown argument '$1'" ;;
  esac
  shift 2
done
[[ $arch =~ ^[1-9][0-9]+[a-z]?(-real|-virtual)?$ ]] ||
  stop 2 "expected --arch with one architecture, 90a-real say, got '$arch'"
[[ $jobs =~ ^[1-9][0-9]*$ ]] || stop 2 "expected --jobs from 1 on, got '$jobs'"
[[ ! $text && ! $tokenizer || -e $text && -e $tokenizer ]] ||
  stop 2 "expected --text and --tokenizer with files or folders, got '$text' and '$tokenizer'"
if [[ $text ]] && ((${#wanted[@]} == 0)); then wanted=("${essential_tests[@]}"); fi
for tool in cmake ninja nvcc strip readelf xz; do
  command -v "$tool" >/dev/null || stop 2 "expected $tool on PATH, got none; third_party/README.md says what is needed"
done

# ---- build

readonly tree=build/cuda-portable
programs=(bench eval inspect prepare sweep train)
if [[ $text ]]; then programs=(bench prepare sweep); fi
cmake --preset cuda-portable -DCMAKE_CUDA_ARCHITECTURES="$arch" -DFARFIELD_BUILD_TESTS=ON ||
  stop 1 "the configuration failed: see above"
mapfile -t tests < <(card_tests "$tree")
((${#tests[@]})) || stop 1 "expected tests with the label gpu in $tree, got none"
if ((${#wanted[@]})); then
  for test in "${wanted[@]}"; do
    [[ " ${tests[*]} " == *" $test "* ]] || stop 2 "expected --tests with some of: ${tests[*]}, got '$test'"
  done
  tests=("${wanted[@]}")
fi
cmake --build "$tree" -j "$jobs" --target "${programs[@]}" "${tests[@]}" || stop 1 "the build failed: see above"

# ---- pack

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
readonly root=$stage/farfield-gpu
mkdir -p "$root/apps" "$root/build/bin" "$root/build/tests"
for program in "${programs[@]}"; do strip -o "$root/build/bin/$program" "$tree/bin/$program"; done
for test in "${tests[@]}"; do strip -o "$root/build/tests/$test" "$tree/tests/$test"; done
grep -E "\[=\[($(IFS='|'; echo "${tests[*]}"))\]=\]" "$tree/tests/CTestTestfile.cmake" >"$root/build/tests/CTestTestfile.cmake"
cp -r apps/gpu_check.sh apps/gpu_check apps/card_run.sh "$root/apps/"
rm -rf "$root/apps/gpu_check/__pycache__"

if [[ $text ]]; then
  mkdir "$root/text"
  cp -rL "$text" "$root/text/"
  mkdir "$root/tokenizer"
  if [[ -d $tokenizer ]]; then cp -rL "$tokenizer"/. "$root/tokenizer"; else cp -L "$tokenizer" "$root/tokenizer"; fi
fi

# The target machine has only the shared libraries of CUDA and of the C library, and NCCL for its test.
readonly allowed='^(libcublasLt|libcudart|libcuda|libc|libm|libdl|libpthread|librt|ld-linux-x86-64|libgcc_s|libstdc\+\+)\.so'
for file in "$root"/build/bin/* "$root"/build/tests/test_*; do
  foreign=$(readelf -d "$file" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -vE "$allowed" |
    { [[ $file != */test_cuda_nccl ]] && cat || grep -v '^libnccl[.]so'; } | tr '\n' ' ') || true
  [[ -z $foreign ]] || stop 1 "expected ${file##*/} to need the libraries of CUDA and C alone, got $foreign"
done

mkdir -p "$(dirname "$out")"
# The programs have much in common: a dictionary that spans several makes a fifth of what gzip does.
tar -C "$stage" -I 'xz --lzma2=preset=6,dict=64MiB' -cf "$out" farfield-gpu

# ---- size of the archive

mib() { awk -v n="$1" 'BEGIN { printf "%.1f MiB", n / 1048576 }'; }
source_bytes=0
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  source_bytes=$(git ls-files -z | xargs -0 stat -c %s | awk '{ n += $1 } END { print n + 0 }')
fi
bytes=$(stat -c %s "$out")
unpacked=$(du -sb "$root" | cut -f1)
readonly most=$((60 * 1048576))
echo "gpu_bundle: $out, ${#programs[@]} programs and ${#tests[@]} tests for $arch: $(mib "$bytes"), unpacked $(mib "$unpacked")"
echo "gpu_bundle: with the source tree of $(mib "$source_bytes"): $(mib $((bytes + source_bytes)))"
((bytes + source_bytes <= most)) ||
  stop 1 "expected at most $(mib "$most") together with the source tree, got $(mib $((bytes + source_bytes)))"
echo "gpu_bundle: there: tar -xJf ${out##*/} && farfield-gpu/apps/gpu_check.sh --build farfield-gpu/build"
echo "gpu_bundle: without xz there: python3 -m tarfile -e ${out##*/}"
