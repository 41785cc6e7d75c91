# Sourced by the tests that open exports with Python packages, after support/expect.sh.

# with_python MODULE...: the rest of the test runs in a folder of its own, with $python, which has
# these modules; else the test ends with status 77 and says why.
with_python() {
  python=${PYTHON:-python3}
  "$python" -c "import $(IFS=,; echo "$*")" 2>/dev/null || {
    echo "skipped: python3 lacks some of $* here (PyPI has them)"
    exit 77
  }
  folder=$(mktemp -d) || exit 1
  trap 'rm -rf "$folder"' EXIT
  cd "$folder" || exit 1
}

# text_and_tokenizer PREPARE: text.txt, and bpe.json with 300 tokens of it
text_and_tokenizer() {
  for ((i = 0; i < 300; ++i)); do
    echo "the $i words of line $((i * i % 97)) follow one another"
  done >text.txt
  status "$1" tokenizer train --input text.txt --vocab-size 300 --output bpe.json
  expect 'prepare tokenizer train' 0 "$got"
}
