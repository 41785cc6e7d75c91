# Sourced by apps/gpu_check.sh: how its parts run commands. A part returns 0, another status for a
# failure, 124 out of time, 77 for "cannot run here", 75 for "not all of it ran"; the last line of its
# output is its remark. What it writes goes to $dir. What is held to be true of the card is a row
# `what,by,,,,,,,result` of $dir/checks.csv.

readonly skipped=77 partial=75

# lacks_library FILE: whether a library that a program names is not found.
lacks_library() { [[ ! -x $1 ]] || "${ours[@]}" ldd "$1" 2>/dev/null | grep -q 'not found'; }

# The folders of cuBLASLt and of NCCL, if the system's linker does not find them: from the toolkit
# or from the pip packages of torch. For our programs only: torch finds its own libraries.
ours=()
find_libraries() {
  find_library libcublasLt.so.13 cu13 "$tree/bin/bench" ||
    stop "expected libcublasLt.so.13 of CUDA 13, found none; name its folder in LD_LIBRARY_PATH"
  find_library libnccl.so.2 nccl "$tree/tests/test_cuda_nccl" || echo "no libnccl.so.2 here: NCCL is not tested"
}
# find_library NAME PACKAGE PROGRAM: into `ours`; PACKAGE is the folder of pip's packages.
find_library() {
  local folder
  ! "${ours[@]}" ldd "$3" 2>/dev/null | grep -q "$1 => not found" && return
  for folder in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/local/cuda*/lib64 \
      "$(dirname "$(command -v nvcc || echo /nowhere/bin/nvcc)")/../lib64" \
      $(timeout 30 python3 -c 'import site, sys
for path in sys.path + site.getsitepackages(): print(path + "/nvidia/'"$2"'/lib")' 2>/dev/null); do
    [[ -e $folder/$1 ]] || continue
    library_path=$folder${library_path:+:$library_path}
    ours=(env "LD_LIBRARY_PATH=$library_path")
    return
  done
  return 1
}
library_path=${LD_LIBRARY_PATH-}

# Runs a command within the rest of this part's time, and within $most_s seconds if that is set.
most_s=
limited() {
  local left=$((part_end - SECONDS))
  if [[ -n $most_s ]] && ((left > most_s)); then left=$most_s; fi
  ((left > 0)) || { echo "no time left"; return 124; }
  timeout --kill-after=5 "$left" "${ours[@]}" "$@"
}
limited_other() { local ours=(); limited "$@"; }  # not one of our programs

# check WHAT BY RESULT
check() { echo "$1,$2,,,,,,,${3//,/;}" >>"$dir/checks.csv"; }

need_tree() {
  [[ -x $tree/bin/bench ]] || { echo "nothing is built in $tree"; return 1; }
}

# Counts commands: count_from_0; counted NAME COMMAND...; count_of WHAT, which says how many passed.
count_from_0() { n_counted=0 failed=() late=0; }
counted() {
  local name=$1 status=0
  shift
  limited "$@" >"$dir/$name.log" 2>&1 || status=$?
  n_counted=$((n_counted + 1))
  if ((status == 124 || status == 137)); then late=124; fi
  if ((status)); then
    failed+=("$name($status)")
    echo "-- $name: status $status"
    tail -n 5 "$dir/$name.log"
  fi
}
count_of() {
  echo "$1: $((n_counted - ${#failed[@]})) of $n_counted passed${failed[*]:+; failed: ${failed[*]}}"
  ((${#failed[@]} == 0)) || return $((late ? late : 1))
}

# Errors for the last line of a part that goes on all the same.
problems=
problem() { echo "$1"; problems+="${problems:+; }$1"; }

# measure NAME ARGUMENT...: a table by bench, in $dir/NAME.csv and, as it grows, in NAME.log.
measure() {
  local name=$1 status=0
  shift
  limited "$tree/bin/bench" "$@" --device cuda --precision bf16 --csv "$dir/$name.csv" \
    >"$dir/$name.log" 2>&1 || status=$?
  cat "$dir/$name.log"
  if ((status)); then problem "$name: status $status of bench $1"; fi
  return $status
}

# has_graphs NAME N: whether that table's steps, so many, were each a CUDA graph: a capture that fails
# costs time, not numbers.
has_graphs() {
  local graphs
  graphs=$(grep -c 'one CUDA graph of' "$dir/$1.log") || true
  ((graphs == $2)) && return
  grep 'kernel by kernel' "$dir/$1.log" || true
  problem "$1: expected a CUDA graph for each of $2 encodings, got $graphs"
  return 1
}
