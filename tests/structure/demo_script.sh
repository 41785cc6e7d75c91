#!/usr/bin/env bash
# demo_script.sh SOURCE: the output of ./demo while it builds, and the targets that it builds, with
# a fake cmake instead of the real one.
set -euo pipefail
source_dir=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tree/third_party" "$folder/bin" "$folder/tree/build/cpu/bin"
cp "$source_dir/demo" "$folder/tree/"
cp "$source_dir/third_party/packages.sh" "$folder/tree/third_party/"
printf '#!/bin/sh\necho "demo program: $*"\n' >"$folder/tree/build/cpu/bin/demo"
printf '#!/bin/sh\nprintf installed\n' >"$folder/bin/dpkg-query"  # whatever is asked for
cat >"$folder/bin/cmake" <<'TEXT'
#!/bin/bash
echo "cmake $*" >>"${0%/*}/calls"
if [[ $1 == --build ]]; then
  for i in 1 2 3 4; do
    echo "[$i/4] Building CXX object $i.cpp.o"
    if [[ -e ${0%/*}/broken ]]; then
      echo "1.cpp:1: error: broken"
      exit 1
    fi
    sleep 0.6
  done
fi
TEXT
chmod +x "$folder"/bin/* "$folder/tree/build/cpu/bin/demo"
export PATH="$folder/bin:$PATH"

expect() {  # TEXT FILE
  grep -qF -- "$1" "$2" || { echo "expected '$1' in:"; cat "$2"; exit 1; }
}

"$folder/tree/demo" a b >"$folder/said" </dev/null
expect 'demo: building, step 2 of 4' "$folder/said"
expect 'demo program: a b' "$folder/said"
expect '--target demo' "$folder/bin/calls"
expect '-DFARFIELD_BUILD_TESTS=OFF' "$folder/bin/calls"
if grep -q -- '--target programs' "$folder/bin/calls"; then exit 1; fi
if grep -q $'\r' "$folder/said"; then echo "a line was written over, with nobody watching"; exit 1; fi

echo 'FARFIELD_BUILD_TESTS:BOOL=ON' >"$folder/tree/build/cpu/CMakeCache.txt"
touch "$folder/bin/broken"
status=0
"$folder/tree/demo" >"$folder/said" 2>"$folder/error" </dev/null || status=$?
((status == 1)) || { echo "expected exit status 1 of a build that fails, got $status"; exit 1; }
expect 'demo: the build failed' "$folder/error"
expect '1.cpp:1: error: broken' "$folder/error"
expect '-DFARFIELD_BUILD_TESTS=ON' "$folder/bin/calls"
if grep -q 'demo program' "$folder/said"; then exit 1; fi
echo "demo_script: passed"
