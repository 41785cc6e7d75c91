# Sourced by the scripts here: a corpus, a run small enough to be made again and again, and a
# comparison of two runs; also expect.sh.
source "${BASH_SOURCE%/*}/../support/expect.sh"

# Steps, and between checkpoints; a test may have more of them.
readonly last=${last:-42} every=${every:-3}
# Dropout and a learned encoding: both have a state that a resumed run could lose.
readonly config="--preset smoke --posenc kerple_log --data corpus --train-len 64 --batch 4
  --n-layer 2 --n-head 2 --d-model 16 --hidden-dropout 0.1 --steps $last --threads 1
  --log-every 1 --valid-every 14 --valid-windows 8 --checkpoint-every $every"

# make_corpus PREPARE: the folder corpus
make_corpus() {
  local i
  for ((i = 0; i < 400; ++i)); do
    echo "the $i words of line $((i * i % 97)) follow one another"
  done >text.txt
  "$1" --input text.txt --output corpus >said 2>&1
}

# The part of a checkpoint's state that does not depend on the clock.
essence() { sed '/"metrics": {/,/}/d; /"time_s"/d; /"hash"/d' "$1/state.json"; }
# same_checkpoint FOLDER FOLDER
same_checkpoint() {
  diff -rq -x state.json "$1" "$2" >difference 2>&1 && [[ $(essence "$1") == "$(essence "$2")" ]]
}
# same_rows RUN RUN: of metrics.csv, without what the clock says: step to grad_norm
same_rows() { cmp -s <(cut -d, -f1-6 "$1/metrics.csv") <(cut -d, -f1-6 "$2/metrics.csv"); }
# same_end RUN RUN
same_end() {
  local step
  printf -v step 'checkpoints/step-%08d' "$last"
  same_checkpoint "$1/$step" "$2/$step" && same_rows "$1" "$2"
}

# contents RUN: names and hashes of its files, but for the number of the process in its lock
contents() {
  (cd "$1" && find . -type d && find . ! -name lock -type f -exec md5sum {} + | sort)
}
