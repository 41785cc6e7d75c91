#!/bin/sh
# check_documents.sh ROOT: what the pages of a tree name in backquotes, and what they link to, is there.
#
# A word that looks like a path (a slash behind the name of a folder, or the ending of a source or a
# page) is a tracked file or folder: from the root, from the page's folder, or as the end of a path; the
# ending may be left out, since `ops/softmax` is a header and its source. A word that looks like a type
# or a function of ours (PascalCase of two words or more, `name()`, `ns::name`) is a word of the sources.
# A relative link leads to a tracked file or folder, and behind # to a heading of it.
# Outputs (build/, runs/, corpora/, sweeps/), placeholders (NAME, <length>, *) and blocks of commands and
# of code are left alone: other tests run and compile these.
set -eu
export LC_ALL=C
cd "$1"
tracked=$(mktemp)
words=$(mktemp)
trap 'rm -f "$tracked" "$words"' EXIT

if ! git ls-files >"$tracked" 2>/dev/null || ! [ -s "$tracked" ]; then
  echo "skipped: no git here that lists files of $1"
  exit
fi

# Names that are not of this project, one a line, each with its reason.
exceptions=$(sed 's/ *#.*//' <<'LIST'
PascalCase  # the name of a way of writing names
LIST
)

# Words of the sources; a name of a file with its ending is one as well: programs write such files.
grep -E '^(engine|layers|posenc|data|apps|tests|third_party)/.*\.(h|cpp|cu|cuh|cmake|sh|py|in|txt)$|^CMakeLists\.txt$' \
  "$tracked" | grep -vE '^(apps/sweep/results|tests/(structure|golden|fuzz/inputs))/' | tr '\n' '\0' |
  xargs -0 cat | tr -c 'A-Za-z0-9_.\n-' '[\n*]' |
  awk '{
    if (length($0) == 0 || $0 in seen) next
    seen[$0]
    print
    n = split($0, parts, /[.-]+/)
    for (i = 1; i <= n; ++i)
      if (parts[i] != "" && !(parts[i] in seen)) { seen[parts[i]]; print parts[i] }
  }' >"$words"

grep '\.md$' "$tracked" | grep -vE '^apps/sweep/results/|(^|/)broken/' | tr '\n' '\0' |
  xargs -0 awk -v tracked="$tracked" -v words="$words" -v exceptions="$exceptions" '
function complain(word, why) {
  print FILENAME ": line " begin ": `" word "`: " why
  ++bad
}

# A path, its folders, and the ends of all of them, with and without the ending of the file.
function keep_path(path,    stem, rest) {
  stem = path
  sub(/\.[a-z.]+$/, "", stem)
  paths[path]
  paths[stem]
  for (rest = path; sub(/^[^\/]*\//, "", rest);) ends[rest]
  for (rest = stem; sub(/^[^\/]*\//, "", rest);) ends[rest]
}

function is_there(word,    folder, path) {
  sub(/^\.\//, "", word)
  sub(/\/$/, "", word)
  if (word in paths || word in ends) return 1
  folder = FILENAME
  if (!sub(/\/[^\/]*$/, "", folder)) return 0
  path = folder "/" word
  while (sub(/[^\/]+\/\.\.\//, "", path)) {}
  return path in paths
}

# Each word that braces stand for: a.{h,cpp} is a.h and a.cpp.
function check_path(word, ending,    open, close_, parts, n, i) {
  open = index(word, "{")
  close_ = index(word, "}")
  if (open > 0 && close_ > open) {
    n = split(substr(word, open + 1, close_ - open - 1), parts, ",")
    for (i = 1; i <= n; ++i)
      check_path(substr(word, 1, open - 1) parts[i] substr(word, close_ + 1), ending)
    return
  }
  if (is_there(word)) return
  if (word ~ /(^|[^A-Za-z])[A-Z][A-Z_]+([^A-Za-z]|$)/) return  # FILE, a placeholder
  if (word !~ /\// && ending ~ /^(csv|conf|md)$/ && word in sources) return  # a program writes it
  complain(word, "expected the path of a tracked file or folder")
}

function check_names(word,    parts, n, i) {
  n = split(word, parts, /::|\(\)|\.|->/)
  for (i = 1; i <= n; ++i) {
    if (parts[i] == "std") return
    if (parts[i] ~ /(^|_)(NAME|FILE)(_|$)/) continue  # a placeholder
    if (parts[i] == "" || parts[i] in sources || parts[i] in excepted) continue
    complain(word, "expected a word of the sources")
    return
  }
}

# What a heading is called in a link to it.
function anchor_of(heading) {
  sub(/^#+ +/, "", heading)
  gsub(/\]\([^)]*\)/, "", heading)
  gsub(/[][!"#$%&\047()*+,.\/:;<=>?@\\^`{|}~]/, "", heading)
  gsub(/ /, "-", heading)
  return tolower(heading)
}

# Links of a line, to be looked at when all headings are known.
function keep_links(line,    target) {
  gsub(/`[^`]*`/, "", line)
  while (match(line, /\]\([^) ]+\)/)) {
    target = substr(line, RSTART + 2, RLENGTH - 3)
    line = substr(line, RSTART + RLENGTH)
    if (target ~ /^[a-z]+:/) continue
    links[++n_link] = target
    link_page[n_link] = FILENAME
    link_line[n_link] = FNR
  }
}

function check_link(i,    target, anchor, path) {
  target = links[i]
  anchor = ""
  if (match(target, /#/)) {
    anchor = substr(target, RSTART + 1)
    target = substr(target, 1, RSTART - 1)
  }
  path = link_page[i]
  if (target != "") {
    if (!sub(/[^\/]*$/, target, path)) path = target
    while (sub(/[^\/]+\/\.\.\//, "", path)) {}
    sub(/\/$/, "", path)
  }
  if (path in paths && (anchor == "" || (path, anchor) in anchors)) return
  FILENAME = link_page[i]
  begin = link_line[i]
  complain(links[i], "expected the tracked file, and the heading, of a link")
}

function check_word(word,    ending, first) {
  sub(/[,.;:]+$/, "", word)
  if (word ~ /^[A-Za-z_][A-Za-z0-9_.]*(::~?[A-Za-z_][A-Za-z0-9_]*)*(\(\))?$/) {
    if (word ~ /::|\(\)$/ || word ~ /^[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*$/) {
      check_names(word)
      return
    }
  }
  if (word !~ /^[A-Za-z0-9_.\/{},+-]+$/ || word ~ /^\// || word ~ /\.\.\./) return
  if (word ~ /^(\.\/)?(build|runs|corpora|sweeps)\//) return
  ending = word
  if (!sub(/^.*[A-Za-z0-9_}]\./, "", ending)) ending = ""
  if (ending ~ /^(h|cpp|cu|cuh|cmake|sh|md|csv|conf)$/ || word ~ /^[^\/]*\.\{h,cpp\}/) {
    check_path(word, ending)
  } else if (word ~ /\//) {
    first = word
    sub(/^(\.\.?\/)*/, "", first)
    sub(/[\/{].*$/, "", first)
    if (first in folders) check_path(word, "")
  }
}

BEGIN {
  while ((getline line <tracked) > 0) {
    keep_path(line)
    while (sub(/\/[^\/]*$/, "", line) && !(line in paths)) {
      keep_path(line)
      name = line
      sub(/^.*\//, "", name)
      folders[name]
    }
  }
  while ((getline line <words) > 0) sources[line]
  n = split(exceptions, list, /[ \n]+/)
  for (i = 1; i <= n; ++i) excepted[list[i]]
}

FNR == 1 {
  fence = is_code = is_in = 0
  was_empty = 1
  span = ""
  ++n_page
}
/^ *```/ { fence = !fence; next }
fence { next }
# A block of code by its four blanks behind an empty line.
/^    / && (is_code || was_empty) && !is_in { is_code = 1; next }
/^#+ / {
  name = anchor_of($0)
  if ((FILENAME, name) in anchors) {
    for (n = 1; (FILENAME, name "-" n) in anchors; ++n) {}
    name = name "-" n
  }
  anchors[FILENAME, name]
}
{
  keep_links($0)
  is_code = 0
  was_empty = /^[ \t]*$/
  if (was_empty && is_in) {
    complain(span, "expected a second backquote in its paragraph")
    is_in = 0
    span = ""
  }
  n = split($0, parts, "`")
  for (i = 1; i <= n; ++i) {
    if (i > 1) is_in = !is_in
    if (i > 1 && !is_in) {
      ++n_span
      m = split(span, list, /[ \t]+/)
      for (k = 1; k <= m; ++k) check_word(list[k])
      span = ""
    }
    if (is_in) {
      if (span == "") begin = FNR
      span = span (i == 1 ? " " : "") parts[i]
    }
  }
}
END {
  for (i = 1; i <= n_link; ++i) check_link(i)
  if (n_span == 0) { print "expected pages with words in backquotes, got none"; exit 1 }
  if (bad) { print bad " words and links of pages are not in the tree"; exit 1 }
  print n_span " spans in backquotes and " n_link " links on " n_page " pages name what is there"
}'
