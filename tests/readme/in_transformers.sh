#!/usr/bin/env bash
# Loads a run into `transformers` as apps/run/README.md says: in_transformers.sh BIN README
#
# The commands and the Python come from the section of the README, and the losses that they print
# must equal eval's. Skipped (77) where python3 has no torch and transformers.
set -euo pipefail

bin=$(readlink -f "$1")
readme=$(readlink -f "$2")
if ! versions=$(python3 -c 'import numpy, safetensors.torch, torch, transformers
print("torch", torch.__version__, "transformers", transformers.__version__)' 2>&1); then
  echo "skipped: python3 has no torch, transformers, safetensors and numpy: ${versions##*$'\n'}"
  exit 77
fi
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
mkdir -p build/cpu
ln -s "$bin" build/cpu/bin

block() {  # LANGUAGE: the block of the section that is fenced so
  sed -n '/^### In `transformers`/,/^##* [^I]/p' "$readme" | sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" |
    sed '1d;$d'
}
block sh >commands.sh
block python >losses.py
[[ -s commands.sh && -s losses.py ]] || { echo "expected both blocks in $readme, got one less" >&2; exit 1; }

build/cpu/bin/prepare --input /usr/include --ext h --max-bytes 2000000 --output corpora/run >prepare.log
build/cpu/bin/train --preset smoke --steps 60 --train-len 64 --data corpora/run --posenc rope \
  --out runs/run/rope >train.log
bash -euo pipefail commands.sh >eval.log
python3 losses.py >losses.txt
awk -v versions="$versions" '
  { d = $3 < 0 ? -$3 : $3; if (d > most) most = d; if ($2 > 0) ++n }
  END {
    printf "%d chunks, the largest difference is %g nats per token (%s)\n", n, most, versions
    exit !(n > 100 && most < 1e-5)
  }' losses.txt
