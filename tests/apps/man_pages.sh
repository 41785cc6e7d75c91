#!/usr/bin/env bash
# man_pages.sh BIN SOURCE: the manual pages of the programs in BIN have every option and every command
# that these programs name for completion, say nothing that a reader of roff warns of, and are
# installed beside the completions.
set -u
bin=$1 source=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
  echo "$*" >&2
  failed=1
}

# reader COMMAND...: it says nothing of any page on stderr; SKIPPED where it is not installed
reader() {
  [[ $(command -v "$1") ]] || { echo "SKIPPED: no $1 to read the pages" >&2; return; }
  local page said
  for page in "$folder"/share/man/man1/*.1; do
    # A build without git knows no date.
    said=$("$@" "$page" 2>&1 >/dev/null | grep -v 'missing date')
    [[ -z $said ]] || fail "$* ${page##*/}: $said"
  done
}

# words PROGRAM [COMMAND...]: each word that it takes is in the page, and so are those of its commands
words() {
  local page="$folder/share/man/man1/$1.1" word
  while IFS=$'\t' read -r word _; do
    grep -qF -- "fB${word//-/\\-}\\fR" "$page" || fail "$* $word: not in ${page##*/}"
    n_words=$((n_words + 1))
    [[ $word == -* ]] || words "$@" "$word"
  done < <("$bin/$1" "${@:2}" --completion words)
}

programs=(bench demo eval generate inspect model prepare sweep train)
for program in "${programs[@]}"; do
  cmake -DCMAKE_INSTALL_PREFIX="$folder" -Dprogram="$program" -Dfile="$bin/$program" -Ddata=share \
    -Dman=share/man -P "$source/apps/printed_files.cmake" >/dev/null || failed=1
  for file in man/man1/$program.1 bash-completion/completions/$program zsh/site-functions/_$program; do
    [[ -s $folder/share/$file ]] || fail "$program: share/$file is not installed"
  done
  n_words=0
  words "$program"
  ((n_words > 5)) || fail "$program: $n_words words"
done
# A section stands in the page once, with what belongs to it below its heading.
sed -n '/^\.SH "bench step"/,/^\.SH "bench tokenize"/p' "$folder/share/man/man1/bench.1" |
  grep -qF '\fB\-\-preset\fR \fINAME\fR' || fail 'bench.1: --preset is not in the section of bench step'

export LC_ALL=C.UTF-8
reader groff -man -Tutf8 -ww
reader man -l --warnings
lint() { mandoc -Tlint -Wwarning "$@" >&2; }  # whose remarks are its output
if [[ $(command -v mandoc) ]]; then reader lint; else echo 'SKIPPED: no mandoc to read the pages' >&2; fi

"$bin/train" --man page >/dev/null 2>"$folder/said"
[[ $? == 2 && $(<"$folder/said") == "train: [config] --man: expected nothing behind it, got 'page'" ]] ||
  fail "train --man page: got '$(<"$folder/said")'"
exit $failed
