#!/bin/bash
# sweep_program.sh SWEEP PREPARE: a sweep as its user sees it: dry run, killed workers and drivers,
# failures, status, report, bad input. Exit status 0 when all of it is as said.
set -u
sweep=$1 prepare=$2
source "$(dirname "$0")/../../support/expect.sh"
folder=$(mktemp -d) || exit 1
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
for i in {1..60}; do
  for j in {1..40}; do echo "the $i words of line $((i * j % 97)) follow one another"; done >"$i.txt"
done
status "$prepare" --input . --ext txt --split 60,20,20 --output corpus
expect prepare 0 "$got"

grid() {  # STEPS ENCODING...
  local steps=$1 encoding
  shift
  echo 'title = what is flat?'
  for encoding; do echo "encoding = $encoding"; done
  printf '%s\n' 'dataset = github' 'train-len = 32' 'lengths = 32, 64' "train.steps = $steps" \
    'train.batch = 4' 'train.checkpoint-every = 20' 'eval.segments = 20'
}
grid 20 alibi rope >two.conf
with=(--scale smoke --dataset github=corpus --threads 2)

# everything: the name, size, inode and times of all that is here but said
everything() { find . -name said -prune -o -printf '%p %s %i %T@ %C@\n' | grep -v '^\. ' | sort; }

# --- what would be done, of which nothing is
before=$(everything)
status "$sweep" run two.conf "${with[@]}" --out a --dry-run
expect 'dry run' 0 "$got"
expect 'commands of a dry run' 2 "$(grep -c ' cell .*--threads 2.*# ' said)"
says 'cost of a dry run' 'to make: 2 models, 2 measurements: about '
status "$sweep" run two.conf "${with[@]}" --out a --dry-run --launcher slurm
expect 'dry run of a job array' 0 "$got"
status "$sweep" run atlas --only alibi --scale smoke --out b --dry-run
expect 'dry run without text' 0 "$got"
says 'dry run without text' 'the corpus text would be made; its cells get their names then'
expect 'what dry runs write' "$before" "$(everything)"

status "$sweep" list two.conf --scale smoke --expressions
expect 'list of a grid' 0 "$got"
says 'list of a grid' 'own/two: what is flat?'
says 'list of a grid' '2 models x 1 data sets x 1 seeds: 2 cells, about'
says 'list of a grid' 'alibi, rope'
expect 'list of a grid alone' '' "$(grep kerple said)"

# --- done, and never again
status "$sweep" run two.conf "${with[@]}" --out a --jobs 2 --tensorboard
expect 'run' 0 "$got"
expect 'event files' 'a/tensorboard/alibi-on-corpus' \
  "$(echo a/tensorboard/alibi*/events.out.tfevents.* | cut -c 1-29)"
expect 'folders of event files' 2 "$(ls a/tensorboard | wc -l)"
says 'run' '2 of 2 cells done'
expect 'runs that are kept' '' "$(ls a/runs)"
before=$(stat -c '%n %Y %i' a/results/*)
status "$sweep" run two.conf "${with[@]}" --out a
expect 'run again' 0 "$got"
expect 'results of a second run' "$before" "$(stat -c '%n %Y %i' a/results/*)"
status "$sweep" status a
says 'status' 'own/two: 2 done, 0 running, 0 open, 0 failed'

before=$(everything)
sed 's/lengths = .*/lengths = 32, 64, 96/' two.conf >a.conf && mv a.conf two.conf.new
cp two.conf two.conf.old
cp two.conf.new two.conf
status "$sweep" run two.conf "${with[@]}" --out a --dry-run
expect 'dry run of a grid with a length more' 0 "$got"
says 'dry run of a grid with a length more' \
  'own/two: the grid has changed: 2 of 2 finished models lack a measurement'
status "$sweep" run two.conf "${with[@]}" --out a --dry-run --seeds 4
expect 'dry run with seeds more' 0 "$got"
mv two.conf.old two.conf
rm two.conf.new
status "$sweep" status a
says 'status after dry runs' 'own/two: 2 done, 0 running, 0 open, 0 failed'
expect 'what dry runs of a finished sweep write' "$(grep -v two.conf <<<"$before")" \
  "$(everything | grep -v two.conf)"

# --- too little text is known before anything is trained
sed 's/lengths = .*/lengths = 32, 1000000/; s/^title.*/protocols = last-token, sliding/' two.conf >far.conf
for dry in '' --dry-run; do
  status "$sweep" run far.conf "${with[@]}" --out f $dry
  expect "run of lengths that the text has not $dry" 3 "$got"
  for protocol in last-token sliding; do
    says 'lengths that the text has not' "own/far: $protocol at 32, 1000000 on corpus: [eval:$protocol] not_enough_data: expected at least 100000"
  done
  expect 'folder of what cannot be measured' '' "$(ls f 2>/dev/null)"
done

# --- a worker is killed
grid 8000 alibi >long.conf
"$sweep" run long.conf "${with[@]}" --out b >said 2>&1 &
driver=$!
until_there 'a worker that trains' 'grep -q "step " b/logs/*.log'
pkill -KILL -P "$driver"
wait "$driver"
expect 'run whose worker is killed' 1 $?
says 'run whose worker is killed' 'killed (signal 9'
status "$sweep" status b
says 'status of a failed cell' '0 done, 0 running, 0 open, 1 failed'
status "$sweep" run long.conf "${with[@]}" --out b
expect 'run with a failed cell' 1 "$got"
says 'run with a failed cell' '--retry-failed'

# --- the driver is killed: its worker leaves a checkpoint
"$sweep" run long.conf "${with[@]}" --out b --retry-failed >said 2>&1 &
driver=$!
until_there 'a worker' 'pgrep -P $driver'
worker=$(pgrep -P "$driver")
until_there 'a checkpoint' 'ls b/runs/*/checkpoints/step-*/state.json'
kill -KILL "$driver"
wait "$driver" 2>/dev/null
until_there 'the end of a worker without a driver' '! kill -0 $worker'

# --- two drivers at once: the second waits for the cell of the first
"$sweep" run long.conf "${with[@]}" --out b >first 2>&1 &
driver=$!
until_there 'a worker' 'pgrep -P $driver'
until_there 'a cell that is being made' '"$sweep" status b | grep -q "0 done, 1 running, 0 open, 0 failed; about"'
"$sweep" run long.conf "${with[@]}" --out b >said 2>&1 &
second=$!
until_there 'a second driver' 'grep -q "1 being made by another process" said'
kill -INT "$driver"
wait "$driver"
expect 'first driver that is stopped' 75 $?
until_there 'a cell that the second driver goes on with' 'pgrep -P $second'
kill -INT "$second"
wait "$second"
expect 'second driver that is stopped' 75 $?

# --- Ctrl-C: the cell goes on from its checkpoint, and leaves another
kept=$(ls -d b/runs/*/checkpoints/step-* | sed 's/.*step-0*//' | sort -n | tail -n 1)
lines=$(cat b/logs/*.log | wc -l)
"$sweep" run long.conf "${with[@]}" --out b >said 2>&1 &
driver=$!
until_there 'a cell that goes on' "tail -n +$((lines + 1)) b/logs/*.log | grep -q '^step '"
kill -INT "$driver"
wait "$driver"
expect 'run that is stopped' 75 $?
first=$(tail -n +$((lines + 1)) b/logs/*.log | sed -n 's/^step \([0-9]*\) .*/\1/p' | head -n 1)
((first > kept)) || expect 'first step of a cell that goes on' "more than $kept" "$first"

# --- a time limit: what is being made leaves a checkpoint, what would not be finished is not begun
# (The slow cell takes minutes on any machine, hundreds of times what the short one takes.)
grid 400000 rope >slow.conf
grid 2000 alibi >short.conf
status "$sweep" run slow.conf "${with[@]}" --out t --time-limit 3s
expect 'run with a time limit' 75 "$got"
says 'run with a time limit' 'stopped for the time limit; 0 of 1 cells done'
ls t/runs/*/checkpoints/step-*/state.json >/dev/null || expect 'a cell at the time limit' 'a checkpoint' none
grid 2000 alibi rope >timed.conf
status "$sweep" run timed.conf "${with[@]}" --out u --only alibi --time-limit 10m
expect 'run with time enough' 0 "$got"
status "$sweep" status u
says 'status of a part' 'own/timed: 1 done, 0 running, 0 open, 0 failed, 1 not asked for'
says 'status of a part' 'all: 1 done, 0 running, 0 open, 0 failed'
status "$sweep" run short.conf slow.conf "${with[@]}" --out u --time-limit 3s
expect 'run without time for a cell' 75 "$got"
says 'run without time for a cell' 'stopped for the time limit; 1 of 2 cells done'
expect 'cells that are begun without time' '' "$(ls u/runs)"
for limit in 0s 8 8x -1m; do
  status "$sweep" run timed.conf "${with[@]}" --out v --time-limit $limit --dry-run
  if [[ $limit == 8 ]]; then expect "limit $limit" 0 "$got"; else expect "limit $limit" 2 "$got"; fi
done
status "$sweep" run timed.conf "${with[@]}" --out v --time-limit 8m --launcher slurm
expect 'a time limit of Slurm' 2 "$got"
says 'a time limit of Slurm' 'expected --launcher local'

# --- results of another machine are merged
status "$sweep" merge m u t
expect 'merge' 0 "$got"
says 'merge' 'u: 1 cells new, 0 with more measurements, 0 there already'
says 'merge of what is not finished' 't: 0 cells new'
status "$sweep" merge m u
says 'merge again' 'u: 0 cells new, 0 with more measurements, 1 there already'
status "$sweep" run timed.conf "${with[@]}" --out m
says 'run after a merge' '2 of 2 cells done'
status "$sweep" merge u m
says 'merge back' 'm: 1 cells new, 0 with more measurements, 1 there already'
status "$sweep" merge m
expect 'merge of nothing' 2 "$got"
status "$sweep" merge m corpus
expect 'merge of what is no sweep' 3 "$got"
says 'merge of what is no sweep' 'expected the folder of a sweep'

# --- two at once lose nothing of each other
grid 20 alibi >one.conf
for name in one two; do
  "$sweep" run $name.conf "${with[@]}" --out e >"said.$name" 2>&1 &
done
wait
status "$sweep" status e
says 'the first of two at once' 'own/one: 1 done, 0 running, 0 open'
says 'the second of two at once' 'own/two: 2 done, 0 running, 0 open'

# --- a grid may grow, and have comments
{ echo '# one more'; echo; sed 's/encoding = rope/encoding = rope\nencoding = kerple_log/' two.conf; } >grown
cp two.conf kept.conf
cp grown two.conf
status "$sweep" run two.conf "${with[@]}" --out a
expect 'run of a grid that has grown' 0 "$got"
says 'run of a grid that has grown' '2 of 3 cells done, 1 to be made'
cp kept.conf two.conf
status "$sweep" run two.conf "${with[@]}" --out a
says 'run of the grid as it was' '2 of 2 cells done'

# --- a search stops in time and keeps to its formulas
search=(search --scale smoke --dataset text=corpus --on text --threads 2 --out s)
status "$sweep" "${search[@]}" --candidates 4 --dry-run
expect 'dry run of a search' 0 "$got"
expect 'formulas of a dry run' 4 "$(grep -c '^k[1-4]  .*kernel(' said)"
says 'dry run of a search' 'rung 2: 2 formulas, 200 steps each: about '
expect 'folder of a dry run' '' "$(ls -d s 2>/dev/null)"
status "$sweep" "${search[@]}" --candidates 4 --time-limit 1s
expect 'search with too little time' 75 "$got"
says 'search with too little time' 'search: stopped in '
status "$sweep" status s
says 'status of a search' 'own/search-1: '
status "$sweep" "${search[@]}" --candidates 5
expect 'another search' 2 "$got"
says 'another search' 'another --seed, --on or --candidates (4 formulas)'
status "$sweep" "${search[@]}"
expect 'search without a size' 2 "$got"
says 'search without a size' 'expected --hours H or --candidates N, got neither'

# --- results move alone
mkdir c
cp -r a/sweep.json a/results c  # of three cells
status "$sweep" run two.conf "${with[@]}" --out c
says 'run with the results of another machine' '2 of 2 cells done, 0 to be made'
mkdir d
cp -r a/sweep.json a/results d
mv corpus elsewhere
status "$sweep" run two.conf --scale smoke --out d
expect 'run of what is finished, without its corpus' 0 "$got"
sed 's/rope/sandwich/' two.conf >more.conf
status "$sweep" run more.conf --scale smoke --out d
expect 'run without its corpus' 3 "$got"
says 'run without its corpus' '--dataset NAME=CORPUS says where it is now'
status "$sweep" run more.conf --scale smoke --dataset github=elsewhere --out d
expect 'run with its corpus elsewhere' 0 "$got"
says 'run with its corpus elsewhere' '2 of 2 cells done'
mv elsewhere corpus

# --- the report
status "$sweep" report a
expect 'report' 0 "$got"
for file in report.md report.csv claims.csv index.html; do
  [[ -s a/report/$file ]] || expect "a/report/$file" 'a file' none
done
grep -Eq '^\| 64 \| [*0-9]' a/report/report.md || expect 'report.md' 'a row for 64 tokens' "$(cat a/report/report.md)"
grep -Eq '(src|href)="?http' a/report/index.html && expect 'index.html' 'nothing from elsewhere' http

# --- damage
echo '{' >"$(grep -l '"posenc":"rope"' a/results/*)"
status "$sweep" report a
expect 'report with a damaged result' 0 "$got"
says 'report with a damaged result' 'not the results of a cell'
status "$sweep" run two.conf "${with[@]}" --out a
expect 'run with a damaged result' 0 "$got"
says 'run with a damaged result' '1 of 2 cells done'
expect 'damaged results that are kept' 1 "$(ls a/results/*.damaged | wc -l)"
cp a/sweep.json kept
head -c 40 kept >a/sweep.json
status "$sweep" status a
expect 'damaged sweep.json' 3 "$got"
says 'damaged sweep.json' 'sweep.json'
cp kept a/sweep.json
sed -i "s/steps = 20/steps = 21/" a/sweep.json
status "$sweep" report a
expect 'sweep.json with another digit' 3 "$got"
says 'sweep.json with another digit' 'expected the hash of what it holds'
cp kept a/sweep.json

# --- outputs that are links
mkdir -p far/away
ln -s "$PWD/far/away" linked
ln -s "$PWD/far/new" dangling
for to in linked dangling; do
  status "$sweep" report a --out $to
  expect "report to a folder that is $to" 0 "$got"
  [[ -L $to && -s $to/report.csv ]] || expect "$to" 'a link to a folder with the report' "$(ls -l $to)"
done
rm far/away/report.csv
ln -s "$PWD/far/table.csv" linked/report.csv
status "$sweep" report a --out linked
[[ -L linked/report.csv && -s far/table.csv ]] || expect 'report.csv' 'a link, written through' "$(ls -l linked)"

# --- bad input
refuses() {  # WHAT STATUS MESSAGE COMMAND...
  local what=$1 wanted=$2 message=$3
  shift 3
  status "$sweep" "$@"
  expect "$what" "$wanted" "$got"
  says "$what" "$message"
}
refuses 'no experiment' 2 'expected an experiment' run --scale smoke
refuses 'an unknown id' 2 'sandwich/table1' run sandwich/tabel1 --out x
refuses 'an unknown scale' 2 'smoke, tiny, small, brief or paper' run sandwich/fig1 --scale large --out x
refuses 'an unknown text' 2 'github' run two.conf --dataset gitub=corpus --out x
refuses 'no corpus' 3 'nowhere' run two.conf --dataset github=nowhere --out x
ln -s corpus "$(printf 'corp\351')"
refuses 'a path that sweep.json cannot hold' 2 'expected a path in UTF-8' \
  run two.conf --dataset "github=$(printf 'corp\351')" --out x
refuses 'another scale' 2 'scale' run two.conf --scale tiny --dataset github=corpus --out a
refuses 'no sweep' 3 'expected the folder of a sweep' status corpus
refuses 'no file' 3 'none.conf' run none.conf --out x
refuses 'a launcher' 2 'local or slurm' run two.conf --launcher pbs --out x
echo 'encodings = alibi' >bad.conf
refuses 'an unknown device' 2 'expected cpu, cuda or cuda:N' run two.conf --device gpx --out x
refuses 'an unknown key' 2 'encoding' run bad.conf --out x
refuses 'an unknown data set of --on' 2 'did you mean' run two.conf "${with[@]}" --out a --on gitub
refuses 'a data set of --on that the grid lacks' 2 'expected one of github' run two.conf "${with[@]}" --out a --on arxiv
sed 's/^dataset.*/dataset = gitub/' two.conf >bad.conf
refuses 'an unknown data set of a grid' 2 'did you mean' run bad.conf --out x
sed '$a eval.lengths = 64' two.conf >bad.conf
refuses 'lengths given twice' 2 'lengths and protocols have lines of their own' run bad.conf --out x
echo 'encoding: alibi' >bad.conf
refuses 'no key' 2 'key = value' run bad.conf --out x
sed 's/rope/roope/' two.conf >bad.conf
refuses 'an unknown encoding' 2 'rope' run bad.conf "${with[@]}" --out y
expect 'folder of what cannot be planned' '' "$(ls y 2>/dev/null)"
mkdir elsewhere
"$prepare" --split 20,20,60 --input . --ext txt --output elsewhere/corpus >said 2>&1
refuses 'another corpus of that name' 2 'another corpus of the name corpus' \
  run two.conf --scale smoke --dataset arxiv=elsewhere/corpus --out a
refuses 'another order of documents' 2 'document-order seed' \
  run two.conf "${with[@]}" --document-order file --out a
refuses 'an unknown model' 2 'expected an arm' run two.conf "${with[@]}" --out a --only kerple

# --- experiments of the papers
ids=(sandwich/fig1 sandwich/fig9 sandwich/table7 alibi/value-separation sandwich/fig7)
with=(--scale smoke --dataset arxiv=corpus --dataset text=corpus --threads 2)
status "$sweep" run "${ids[@]}" "${with[@]}" --out papers --jobs 2
expect 'run of experiments' 0 "$got"
says 'run of experiments' 'alibi/value-separation: not run'
status "$sweep" report papers
expect 'report of experiments' 0 "$got"
says 'report of experiments' 'PASS  S-F9-1'
grep -Eq '^(PASS|FAIL|UNDECIDED)( .one seed.)?  S-F7-1' said || expect 'S-F7-1' 'a verdict' "$(cat said)"

# --- experiments of tasks need no text
status "$sweep" run context/first --scale smoke --only 'None (short)' --threads 2 --out tasks
expect 'run of a task' 0 "$got"
says 'run of a task' 'to make: 1 model, 2 measurements'
status "$sweep" report tasks
expect 'report of a task' 0 "$got"
says 'report of a task' 'NOT RUN  C-FIRST-1'
grep -q 'share of right answers (unscaled) on first, 1 seed' tasks/report/report.md ||
  expect 'table of a task' 'a caption' "$(cat tasks/report/report.md)"
refuses 'a data set of tasks' 2 'trained on tasks' run context/first --scale smoke --out x --on github
exit $failed
