#!/bin/bash
# processes.sh TRAIN PREPARE EVAL BENCH JOB: a run of several processes in which one process, or the
# launcher, fails. Each other process must end within 30 seconds with a sentence that gives the
# reason, and the run must resume from its newest checkpoint as if nothing had happened.
set -u
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # for containers
train=$(realpath "$1") prepare=$(realpath "$2") eval=$(realpath "$3") bench=$(realpath "$4")
job=$(realpath "$5")  # engine/comm/job.cpp
several="bash $(realpath "$(dirname "$0")")/several.sh"
source "$(dirname "$0")/small_run.sh"
folder=$(mktemp -d) || exit 1
cd "$folder" || exit 1
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
long="${config/--steps $last/--steps 100000}"

# start RANK SIZE ARGUMENT...: a process of a job, in the background and in the folder `folder_of`,
# called RANK or `name`; what it says is in said.NAME
start() {
  local rank=$1 size=$2 as=${name:-$1}
  shift 2
  RANK=$rank WORLD_SIZE=$size LOCAL_RANK=$rank LOCAL_WORLD_SIZE=$size \
    MASTER_ADDR=${address:-127.0.0.1} MASTER_PORT=$port \
    timeout 100 env --chdir="${folder_of:-.}" "$train" "$@" >"said.$as" 2>&1 &
  pids[as]=$!
}
pids=()
new_job() { port=$((20000 + RANDOM % 12000)) begin=$SECONDS; }
# ends NAME: within 30 seconds of new_job or killing; its exit status in $got, what it says in said
ends() {
  wait "${pids[$1]}" 2>/dev/null
  got=$?
  cp "said.$1" said
  ((SECONDS - begin <= 35)) || expect "process $1" 'an end within 30 s' "$((SECONDS - begin)) s"
}
# until_step N RUN: it has that checkpoint
until_step() {
  local name i
  printf -v name '%s/checkpoints/step-%08d' "$2" "$1"
  for ((i = 0; i < 3000; ++i)); do
    [[ -d $name ]] && return
    sleep 0.01
  done
  expect "$2" "a checkpoint of step $1" none
}

make_corpus "$prepare" || exit 1
status "$train" $config --out whole
expect 'the undisturbed run' 0 "$got"

# newest RUN: the step of its newest checkpoint
newest() {
  local name
  name=$(ls "$1/checkpoints" | grep '^step-[0-9]*$' | tail -n 1)
  echo $((10#${name#step-}))
}

# Nobody is where MASTER_ADDR says, or it is no address; half of the processes are missing: they wait
# for half a minute, beside what follows.
first=$SECONDS
new_job
name=5 start 1 2 $config --out nobody
new_job
name=6 address=nowhere.invalid start 1 2 $config --out nobody
new_job
name=7 start 0 2 $config --out nobody

# One of three is killed; the run goes on with two.
new_job
for rank in 0 1 2; do
  start $rank 3 ${long/--batch 4/--batch 6} --deterministic-reduce off --out killed
done
until_step 3 killed
kill -KILL "$(pgrep -P "${pids[2]}")" 2>/dev/null
begin=$SECONDS
for rank in 0 1; do
  ends $rank
  expect "process $rank of which another was killed" 1 "$got"
  # Who notices first ends, and is missed in turn.
  says "process $rank of which another was killed" 'of 3 has ended or cannot be reached any more'
done
new_job
for rank in 0 1; do start $rank 2 --resume killed --stop-after 1; done
ends 1
ends 0
expect 'the rest of a run that lost a process' 75 "$got"

# A signal to one stops all, with a checkpoint; what four began one ends, bit for bit.
new_job
for rank in 0 1 2 3; do start $rank 4 $config --out stopped; done
until_step 3 stopped
kill -USR1 "$(pgrep -P "${pids[3]}")"
for rank in 0 1 2 3; do
  ends $rank
  expect "process $rank of which one was asked to stop" 75 "$got"
done
status "$train" --resume stopped
expect 'one process goes on with what four began' 0 "$got"
same_end whole stopped || expect 'a run of four and of one' 'the undisturbed one' "$(<difference)"

# Two processes share the model: one is killed; then one is asked to stop; then one process alone
# goes on, which must be reported.
new_job
for rank in 0 1; do start $rank 2 $long --tensor-parallel 2 --out halves; done
until_step 3 halves
kill -KILL "$(pgrep -P "${pids[1]}")" 2>/dev/null
begin=$SECONDS
ends 0
expect 'half of a model whose other half was killed' 1 "$got"
says 'half of a model whose other half was killed' 'of 2 has ended or cannot be reached any more'
new_job
for rank in 0 1; do start $rank 2 --resume halves; done
until_step $(($(newest halves) + 2 * every)) halves
kill -USR1 "$(pgrep -P "${pids[1]}")"
for rank in 0 1; do
  ends $rank
  expect "half $rank of a model of which one was asked to stop" 75 "$got"
done
status "$train" --resume halves
expect 'a model of two in one process' 2 "$got"
says 'a model of two in one process' \
  '--tensor-parallel: expected a divisor of the number of processes, 1, got 2'
status "$train" --resume halves --tensor-parallel 1 --stop-after 1
expect 'a model of two in one process, as was said' 75 "$got"

# Other configurations.
new_job
start 0 2 $config --out other
start 1 2 $config --seed 2 --out other
for rank in 0 1; do
  ends $rank
  expect "process $rank of another configuration" 2 "$got"
  says "process $rank of another configuration" 'expected the same configuration in all processes'
done
expect 'a run of two configurations' no "$([[ -e other ]] && echo yes || echo no)"

# One configuration, but one process is to stop earlier, or trains another run.
for otherwise in '--stop-after 2 --out other' '--out another'; do
  new_job
  start 0 2 $config --out other
  start 1 2 $config $otherwise
  for rank in 0 1; do
    ends $rank
    expect "process $rank, one with $otherwise" 2 "$got"
    says "process $rank, one with $otherwise" 'expected the same configuration in all processes'
  done
  expect 'a run of two calls' no "$([[ -e other || -e another ]] && echo yes || echo no)"
done

# Each has files of its own: a run at another step, or another text.
mkdir first second
cp -r corpus whole first
cp -r whole second
rm -r "$(ls -d second/whole/checkpoints/step-* | tail -n 1)"
sed 's/words/lines/' text.txt >second/text.txt
"$prepare" --input second/text.txt --output second/corpus >said 2>&1
for what in checkpoint 'training data'; do
  call='--resume whole --data corpus'
  [[ $what == checkpoint ]] || call="$config --out new"
  new_job
  folder_of=first start 0 2 $call
  folder_of=second start 1 2 $call
  for rank in 0 1; do
    ends $rank
    says "process $rank, each with another $what" "expected the same $what in all processes"
  done
done

# Another build.
new_job
start 0 2 $config --out other
train=$job start 1 2 build another
for rank in 0 1; do
  ends $rank
  says "process $rank of another build" 'expected the same build in all processes'
done
expect 'a run of two builds' no "$([[ -e other ]] && echo yes || echo no)"

# An error of the command line is reported once.
new_job
for rank in 0 1; do start $rank 2 $config --steps none --out wrong; done
ends 1
expect 'the second process of a wrong command' '' "$(<said)"
ends 0
expect 'a wrong command' 2 "$got"
says 'a wrong command' '--steps'

# A number that is not finite, which all come to, is said once.
new_job
for rank in 0 1; do start $rank 2 $config --lr 1e30 --out hot; done
ends 1
expect 'the second process where a number is not finite' '1: ' "$got: $(<said)"
ends 0
expect 'a number that is not finite' 1 "$got"
says 'a number that is not finite' 'expected finite numbers, got loss'

# A folder that the first cannot make.
new_job
for rank in 0 1; do start $rank 2 $config --out whole; done
ends 1
expect 'the second process where the first cannot begin' '' "$(<said)"
ends 0
says 'a folder that is there' 'expected a new folder'

# Several measure what one measures, to the last digit; the first writes it.
cp -r whole shared
asked='--protocol last-token,non-overlapping,sliding,gradient,reach --lengths 64,128,200 --segments 20'
asked+=' --batch-tokens 1000'
status "$eval" whole $asked
expect 'eval by one process' 0 "$got"
status $several 3 "$eval" shared $asked
expect 'eval by three processes' 0 "$got"
says 'eval by three processes' '3 processes by TCP'
for file in whole/eval/*.csv; do
  cmp -s <(sed 's/^whole//' "$file") <(sed 's/^shared//' "shared/eval/${file##*/}") ||
    expect "${file##*/} by three processes" 'that of one' 'another'
done

# A step that is timed, in its parts.
tensor_parallel=
asked='step --preset smoke --rounds 2 --threads 1 --posenc none,kerple_log'
for parts in 'forward and backward .*, sums of gradients .* update' 'forward .*, update'; do
  status $several 2 "$bench" $asked $tensor_parallel
  expect 'a timed step of two processes' 0 "$got"
  grep -Eq "^kerple_log: $parts" said || expect 'a timed step' "$parts" "$(<said)"
  tensor_parallel='--tensor-parallel 2'
done

# A step of theirs against its prediction: a finite number above 0, whatever the machine does.
# compared WHAT: said has it
compared() {
  local line='a step of 2 processes: predicted [0-9.]+ ms, measured [0-9.]+ ms, [0-9.]+ of it'
  grep -Eo "$line" said | awk '{ found = $(NF - 2) > 0 } END { exit !found }' ||
    expect "$1" 'a ratio of measured to predicted' "$(<said)"
}
asked='scaling --preset smoke --rounds 2 --threads 1'
status $several 2 "$bench" $asked
expect 'a prediction of two processes' 0 "$got"
compared 'a prediction of two processes'

# Those that wait for others.
begin=$first
ends 7
expect 'a process that waits for another' 1 "$got"
says 'a process that waits for another' \
  'for 2 processes; missing: 1; are all started, with this MASTER_ADDR and MASTER_PORT?'
ends 5
expect 'a wrong MASTER_ADDR' 1 "$got"
says 'a wrong MASTER_ADDR' 'cannot connect to 127.0.0.1, port'
ends 6
expect 'no address' 1 "$got"
says 'no address' 'nowhere.invalid'
expect 'a run without its processes' no "$([[ -e nobody ]] && echo yes || echo no)"

# The same by mpirun.
if ! command -v mpirun >/dev/null || ! ldd "$train" | grep -q libmpi; then
  echo 'mpirun: not tested, there is none here or the programs were built without MPI'
  exit $failed
fi
timeout 100 mpirun --oversubscribe -n 2 "$train" $config --out by_mpi >said 2>&1
expect 'two by mpirun' 0 $?
says 'two by mpirun' '2 processes by MPI'
same_end whole by_mpi || expect 'a run by mpirun' 'the undisturbed one' "$(<difference)"
timeout 100 mpirun --oversubscribe -n 2 "$bench" $asked >said 2>&1
expect 'a prediction by mpirun' 0 $?
compared 'a prediction by mpirun'
timeout 100 mpirun --oversubscribe -n 2 "$train" $long --out killed_mpi >said 2>&1 &
job=$!
until_step 3 killed_mpi
begin=$SECONDS
kill -KILL "$(pgrep -f -- "$train.*--out killed_mpi" | tail -n 1)"
wait $job
expect 'one of mpirun is killed' 1 $(($? != 0 && $? != 124))
((SECONDS - begin <= 30)) || expect 'one of mpirun is killed' 'an end within 30 s' "$((SECONDS - begin)) s"

# alone WHAT STATUS TEXT: mpirun, since begin, has ended within 30 s with that status (in $got), and one
# process has said this
alone() {
  expect "$1" "$2" "$got"
  ((SECONDS - begin <= 30)) || expect "$1" 'an end within 30 s' "$((SECONDS - begin)) s"
  expect "$1: processes that say '$3'" 1 "$(grep -cF -- "$3" said)"
}
by_mpi=(timeout 60 mpirun --oversubscribe)

# The first cannot write a row any more, and the other waits for it.
"${by_mpi[@]}" -n 2 "$train" ${long/--checkpoint-every $every/--checkpoint-every 0} --out limited >said 2>&1 &
job=$!
until_there 'rows of a run by mpirun' '(($(wc -l <limited/metrics.csv) > 3))'
for pid in $(pgrep -f -- "$train.*--out limited"); do
  grep -qzx OMPI_COMM_WORLD_RANK=0 "/proc/$pid/environ" && prlimit --pid "$pid" --fsize=1024
done
begin=$SECONDS
wait $job
got=$?
alone 'a row beyond the limit' 3 'train: [file] limited/metrics.csv: cannot write: File too large'
says 'a row beyond the limit' 'step 0 is saved, continue with --resume limited'

# The second finds no corpus where it was started.
mkdir elsewhere
begin=$SECONDS
# (mpirun 5.0.7 dies of two programs between colons, whatever they are.)
status "${by_mpi[@]}" -n 2 bash -c '((OMPI_COMM_WORLD_RANK == 0)) || cd "$0"; exec "$@"' "$folder/elsewhere" \
  "$train" $config --out none
alone 'a process without a corpus' 3 'corpus'
expect 'a run of which one has no corpus' no "$([[ -e none ]] && echo yes || echo no)"

# If all processes find the same error, they end by themselves, without mpirun; a wrong call is
# reported once.
begin=$SECONDS
status "${by_mpi[@]}" -n 2 "$train" $config --lr 1e30 --out hot_mpi
alone 'a number that is not finite' 1 'expected finite numbers, got loss'
expect 'a number that is not finite' 0 "$(grep -c MPI_ABORT said)"
begin=$SECONDS
status "${by_mpi[@]}" -n 2 "$train" $config --steps none --out wrong
alone 'a wrong command by mpirun' 2 '--steps'
begin=$SECONDS
status "${by_mpi[@]}" -n 2 "$eval" whole --lengths 64 --split nowhere
alone 'a wrong command, after they have met' 2 nowhere
expect 'a wrong command, after they have met' 0 "$(grep -c MPI_ABORT said)"

later=$(($(newest killed_mpi) + 2 * every))
timeout 100 mpirun --oversubscribe -n 2 "$train" --resume killed_mpi >said 2>&1 &
job=$!
until_step $later killed_mpi
pkill -USR1 -P $job  # it passes this on
wait $job
expect 'mpirun is asked to stop' 75 $?
says 'mpirun is asked to stop' 'stopped on request after step'
exit $failed
