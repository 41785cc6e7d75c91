#!/usr/bin/env bash
# check_links.sh ROOT: each relative link of each tracked *.md leads to a tracked file or folder, and
# each #anchor to a heading there.
#
# Anchors follow GitHub's rule: the text of the heading in lower case, without punctuation, with "-"
# for each blank; of equal ones the second ends in -1, the third in -2. Blocks of code and `spans` of
# it hold no links. Links to the web are not followed.
set -euo pipefail

root=$1
if ! git -C "$root" ls-files >/dev/null 2>&1 || [[ -z $(git -C "$root" ls-files | head -n 1) ]]; then
  echo "skipped: no git here that lists files of $root"
  exit
fi
cd "$root"
mapfile -t pages < <(git ls-files '*.md')
((${#pages[@]} > 0)) || { echo "links: expected pages (*.md), got none" >&2; exit 1; }

# LC_ALL: bytes, whichever awk there is. Of the characters beyond ASCII the letters of Latin-1 stay.
git ls-files | LC_ALL=C awk '
  function anchor_of(title,    i, c, d, anchor) {
    gsub(/!?\[/, "", title)
    gsub(/\]\([^)]*\)/, "", title)
    sub(/[ \t]+#*[ \t]*$/, "", title)
    title = tolower(title)
    for (i = 1; i <= length(title); ++i) {
      c = substr(title, i, 1)
      d = substr(title, i + 1, 1)
      if (c ~ /[a-z0-9_-]/) anchor = anchor c
      else if (c == " ") anchor = anchor "-"
      else if (c == "\303" && d != "\227" && d != "\267") { anchor = anchor c d; ++i }
    }
    return anchor
  }
  # "apps/eval", "../run/x.md" -> "apps/run/x.md"; "" for what leaves the tree.
  function resolved(folder, path,    n, parts, i, depth, out, stack) {
    n = split(folder "/" path, parts, "/")
    for (i = 1; i <= n; ++i) {
      if (parts[i] == "" || parts[i] == ".") continue
      if (parts[i] != "..") { stack[++depth] = parts[i]; continue }
      if (depth-- == 0) return ""
    }
    for (i = 1; i <= depth; ++i) out = out (i > 1 ? "/" : "") stack[i]
    return depth > 0 ? out : "."
  }
  function broken(i, what) {
    printf "%s:%d: %s\n", from[i], line[i], what
    ++n_broken
  }
  FILENAME == "-" {
    tracked[$0] = tracked["."] = 1
    for (path = $0; sub(/\/[^\/]*$/, "", path);) tracked[path] = 1
    next
  }
  FNR == 1 { fence = "" }
  /^ *(```|~~~)/ {
    mark = $0
    sub(/^ */, "", mark)
    mark = substr(mark, 1, 3)
    if (fence == "") fence = mark
    else if (fence == mark) fence = ""
    next
  }
  fence != "" || /^    / { next }
  /^#+ / {
    title = $0
    sub(/^#+ +/, "", title)
    anchor = anchor_of(title)
    n = seen[FILENAME "#" anchor]++
    headings[FILENAME "#" anchor (n > 0 ? "-" n : "")] = 1
  }
  {
    text = $0
    gsub(/`[^`]*`/, "", text)
    while (match(text, /\]\([^)]+\)/)) {
      from[++n_link] = FILENAME
      line[n_link] = FNR
      to[n_link] = substr(text, RSTART + 2, RLENGTH - 3)
      text = substr(text, RSTART + RLENGTH)
    }
  }
  END {
    for (i = 1; i <= n_link; ++i) {
      target = to[i]
      sub(/ +".*"$/, "", target)
      if (target ~ /^[a-z]+:/) continue
      ++n_relative
      anchor = path = target
      if (!sub(/^[^#]*#/, "", anchor)) anchor = ""
      sub(/#.*$/, "", path)
      folder = from[i]
      if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
      page = path == "" ? from[i] : resolved(folder, path)
      if (path ~ /^\//)
        broken(i, "expected a relative link, got " target)
      else if (!(page in tracked))
        broken(i, "expected a link to a tracked file or folder, got " target)
      else if (anchor != "" && page ~ /\.md$/ && !((page "#" anchor) in headings))
        broken(i, "expected a link to a heading of " page ", got #" anchor)
    }
    printf "links: %d relative links of %d pages, %d broken\n", n_relative, ARGC - 2, n_broken
    exit n_broken > 0
  }' - "${pages[@]}"
