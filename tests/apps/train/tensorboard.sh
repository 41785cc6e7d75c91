#!/bin/bash
# tensorboard.sh TRAIN PREPARE: what TensorBoard's own reader finds in the event files of a run that
# is killed, stopped and resumed. Exit status 77, saying why, where python3 has no tensorboard.
set -u
export LC_ALL=C
train=$(realpath "$1") prepare=$(realpath "$2")
source "$(dirname "$0")/../../fault/small_run.sh"
python=${PYTHON:-python3}
"$python" -c 'import tensorboard.backend.event_processing.event_accumulator' 2>/dev/null || {
  echo "skipped: python3 has no tensorboard here (PyPI: tensorboard)"
  exit 77
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

make_corpus "$prepare"
# Rows 16 to 20 are lost with the last checkpoint and made again, from step 15 on.
status "$train" $config --out run --tensorboard --stop-after 20
expect 'train --stop-after 20' 75 "$got"
rm -r run/checkpoints/step-00000020 run/checkpoints/step-00000018
status "$train" --resume run
expect 'train --resume' 0 "$got"
status "$train" --resume run --tensorboard
expect 'train --resume of a finished run' 0 "$got"
expect 'event files' 2 "$(ls run/events.out.tfevents.* | wc -l)"

cat >read.py <<'END'
import csv, struct, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

def rounded(text):
    return struct.unpack('f', struct.pack('f', float(text)))[0]

events = EventAccumulator('run', size_guidance={'scalars': 0, 'images': 0})
events.Reload()
columns = {'loss/train': 'loss', 'loss/valid': 'valid_loss', 'optimizer/lr': 'lr',
           'optimizer/grad_norm': 'grad_norm', 'progress/tokens': 'tokens'}
rows = list(csv.DictReader(open('run/metrics.csv')))
for tag, column in columns.items():
    want = [(int(row['step']), rounded(row[column])) for row in rows if row[column]]
    got = [(event.step, event.value) for event in events.Scalars(tag)]
    close = len(want) == len(got) and all(
        a == c and abs(b - d) <= 1e-5 * abs(b) for (a, b), (c, d) in zip(want, got))
    if not close:
        sys.exit(f'{tag}: expected {want}, got {got}')
images = [(tag, [(image.step, image.width, image.height) for image in events.Images(tag)])
          for tag in events.Tags()['images']]
print(len(rows), 'rows;', images)
END
status "$python" read.py
expect 'what TensorBoard reads' 0 "$got"
if command -v gnuplot >/dev/null; then
  says 'pictures' "('encoding/bias, layers 0-1', [(14, "
fi
tail -n 1 said
exit $failed
