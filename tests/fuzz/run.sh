#!/usr/bin/env bash
# Fuzzes the readers: tests/fuzz/run.sh SECONDS [READER...]. Two at once; what they find is left in
# build/cpu-fuzz/found/READER, to be put into tests/fuzz/inputs/READER once it is mended.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [READER...]}
shift
if ! command -v clang++ >/dev/null; then
  echo "fuzz: expected clang with libFuzzer (Debian: clang, libclang-rt-14-dev)" >&2
  exit 2
fi
cmake --preset cpu-fuzz >/dev/null
if (($#)); then
  cmake --build --preset cpu-fuzz --target "${@/#/fuzz_}"
else
  cmake --build --preset cpu-fuzz --target fuzzers
fi

export FARFIELD_THREADS=1  # two fuzzers at once, of small inputs
if [[ -d /dev/shm ]]; then export TMPDIR=/dev/shm; fi  # most readers want a file

one() {
  local name=$1 seconds=$2 found=build/cpu-fuzz/found/$1 log=build/cpu-fuzz/found/$1.log
  local corpus=build/cpu-fuzz/corpus/$1 status=ok
  mkdir -p "$found" "$corpus"
  local known=tests/fuzz/inputs/$name
  [[ -d $known ]] || known=
  FARFIELD_SOUND=$corpus/sound build/cpu-fuzz/bin/fuzz_"$name" -runs=0 >/dev/null 2>&1
  build/cpu-fuzz/bin/fuzz_"$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 \
    -max_len=65536 -artifact_prefix="$found/" "$corpus" $known >"$log" 2>&1 || status=FOUND
  printf '%-20s %-6s %s executions, %s edges\n' "$name" "$status" \
    "$(grep -oP 'stat::number_of_executed_units: *\K[0-9]+|^#\K[0-9]+' "$log" | sort -n | tail -n 1)" \
    "$(grep -oP 'cov: \K[0-9]+' "$log" | tail -n 1)"
  [[ $status == ok ]]
}
export -f one

names=("$@")
((${#names[@]})) || mapfile -t names < <(cd build/cpu-fuzz/bin && ls fuzz_* | sed 's/^fuzz_//')
printf '%s\n' "${names[@]}" | xargs -P 2 -I{} bash -c "one {} $seconds"
