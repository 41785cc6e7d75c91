# Sourced by apps/gpu_check.sh: the part of NCCL and of launchers, with the one process that one card has.

# launched NAME LAUNCHER...: train_again, started by a launcher, which has to give the bits of a run
# that none started.
launched() {
  local name=$1 saved=("${ours[@]}")
  shift
  local ours=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@" "${saved[@]}")
  train_again "$name" && same_training "training by $name" plain "$name" ||
    problem "processes: $name: not as without a launcher"
  rm -rf "$dir/runs/$name"
}

part_processes() {
  need_tree || return
  local is_recorded=true left_out=() problems=
  if lacks_library "$tree/tests/test_cuda_nccl"; then
    left_out+=(NCCL)
  else
    count_from_0
    counted nccl "$tree/tests/test_cuda_nccl" --color_output=no
    check "NCCL with one process" test_cuda_nccl "$(count_of passed)"
    if ((${#failed[@]})); then problem "processes: NCCL's test failed"; fi
  fi
  mkdir -p "$dir/runs"
  make_corpus "$dir/runs/corpus" || return
  train_again plain || return
  launched variables env RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 \
    MASTER_PORT=29531
  if command -v mpirun >/dev/null && ldd "$tree/bin/train" | grep -q libmpi; then
    launched mpirun mpirun -n 1 --bind-to none
  else
    left_out+=(mpirun)
  fi
  rm -rf "$dir/runs"
  if ! $is_recorded; then problem "processes: a training was not recorded as a CUDA graph"; fi
  echo "$problems"
  [[ -z $problems ]] && echo "processes: NCCL and launchers with one process${left_out[*]:+; not here: ${left_out[*]}}"
}
