#!/bin/sh
# commit.sh CMAKE COMMIT_CMAKE: which commit a build of a repository with changes names.
cmake=$1 script=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
source=$folder/source
mkdir -p "$source/posenc/encodings" "$source/build"
cd "$source" || exit 1
echo '/build/' >.gitignore
echo 'int f();' >posenc/encodings/rope.cpp
if ! command -v git >/dev/null; then
  echo "skipped: no git"
  exit
fi
git init -q && git add . &&
  git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qm one || exit 1
failed=0

# named WHAT DIRTY: the build names the commit, with "-dirty" behind it or with nothing.
named() {
  "$cmake" -D SOURCE="$source" -D OUTPUT="$folder/commit.h" -P "$script"
  got=$(sed -n 's/.*kCommit\[\] = "\(.*\)".*/\1/p' "$folder/commit.h")
  want=$(git rev-parse --short=12 HEAD)$2
  [ "$got" = "$want" ] && return
  echo "$1: expected $want, got $got"
  failed=1
}

named 'all is committed' ''
touch notes.txt posenc/encodings/notes.md build/made.cpp
named 'files that are no sources of the programs' ''
touch posenc/encodings/mine.cpp
named 'an encoding that is not tracked' -dirty
rm posenc/encodings/mine.cpp
named 'that encoding removed' ''
echo '*.csv' >.git/info/exclude
mkdir -p apps/sweep/reference && touch apps/sweep/reference/mine.csv
named 'a source that git was told to pass over' -dirty
rm -r apps
echo 'int g();' >>posenc/encodings/rope.cpp
named 'a file that was changed' -dirty
exit $failed
