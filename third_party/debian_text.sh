#!/usr/bin/env bash
# Makes a large text corpus from Debian's source packages: third_party/debian_text.sh --help
set -euo pipefail
set -m  # what runs long is a process group of its own, so that Ctrl-C ends all of it

usage() {
  cat <<'TEXT'
usage: third_party/debian_text.sh [code|prose ...] [--out FOLDER] [--mirror URL]

Makes text corpora from a fixed list of source packages of Debian 12 (bookworm, as of 12.15). The
corpora have the same hash on every machine. For each kind the script writes FOLDER/KIND.tar.xz, which
holds the chosen files in a folder KIND/.
To use one:  tar -xJf code.tar.xz && prepare --input code ...  (each file is a document)
Without xz:  python3 -m tarfile -e code.tar.xz

  code   C, C++, Go, Rust, Haskell, Python and OCaml, from Linux (a bit over half), GCC, LLVM, Go,
         rustc, GHC's libraries, CPython, PyTorch and OCaml: 275 MB, some 106 million tokens of GPT-NeoX,
         packed 35 MiB
  prose  documentation of Linux, LLVM, CPython, Rust and PyTorch (reStructuredText, Markdown and plain
         text): 52 MB, some 14 million tokens, packed 10 MiB

  --out FOLDER  folder of the archives; FOLDER/packages keeps the downloads (default: build/text)
  --mirror URL  a Debian archive, up to the folder that holds `pool` (default: the archive that apt on
                this machine is configured for)
  --help        print this help

Left out are tests, generated and binary files, tables of hexadecimal numbers, files with very long
lines, files under 256 bytes or over 256 KiB, and all but the first of equal files.

A finished archive is not made again, and existing packages are not downloaded again. From scratch,
code needs 0.5 GB of downloads, 10 minutes, 1.5 GB of disk and 2.5 GB of memory. The bytes of the .xz
may differ between versions of xz; the script checks the SHA-256 of the tar inside.

The packages are free software and their licences apply to the text. The project does not redistribute
it.

On stdout, a line for each kind: kind, files, MB of text, packed MiB, SHA-256 of the tar.
Exit status: 0 done, 1 failed (a download, a hash, an archive), 2 usage error or a missing tool,
130 interrupted.
TEXT
}

stop() {  # STATUS WORD...
  echo "debian_text: ${*:2}" >&2
  exit "$1"
}
refuse() { stop 2 "$*"; }
say() { echo "debian_text: $*" >&2; }

# ---- packages and files

# Name, SHA-256 and path under pool/main. The file of an upstream version never changes. Debian 12.15
# of July 2026 has all of these; an update of linux would replace that one.
packages='
linux  9aad4025973feea3f0d978e82ab7db97d8d5ce3f59fcc6b1f316153d66e3a504 l/linux/linux_6.1.176.orig.tar.xz
gcc    b8298be16aeeb96a889c6afed0a8e2241b47452e89cc81fe65ea849d5c740fcb g/gcc-12/gcc-12_12.2.0.orig.tar.gz
llvm   076ac9fe372b3141b4fcbee80abfae34f9574fdb959cd8d14a7fd3f39ff89399 l/llvm-toolchain-15/llvm-toolchain-15_15.0.6.orig.tar.xz
go     1d7a67929dccafeaf8a29e55985bc2b789e0499cb1a17100039f084e3238da2f g/golang-1.19/golang-1.19_1.19.8.orig.tar.gz
rust   ad79e62b57ab06516595da2513369b0285b6e2bde1331c00a4197f492f7fad3d r/rustc/rustc_1.63.0+dfsg1.orig.tar.xz
ghc    140e42b96346322d1a39eb17602bcdc76e292028ad4a69286b230bab188a9197 g/ghc/ghc_9.0.2.orig.tar.xz
python 2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849 p/python3.11/python3.11_3.11.2.orig.tar.gz
torch  d0355588b8528566d477e6ebf1b4d9d036a6fd75711339f66b27472ce5879dc7 p/pytorch/pytorch_1.13.1+dfsg.orig.tar.xz
ocaml  66a5353c5e7b33a8981446e857657aad45a3b82080ea5c67d4baa434eacfcf5f o/ocaml/ocaml_4.13.1.orig.tar.gz
'

# For each kind, lines of: package, the folder that it unpacks to, files and folders in it. Similar
# texts stand together: xz then packs 8 bytes into one, and a corpus fits into 36 MiB.
code_paths='
linux  linux-6.1.176 block crypto drivers/clk drivers/gpu/drm/amd drivers/gpu/drm/msm
linux  linux-6.1.176 drivers/gpu/drm/nouveau drivers/iio drivers/net/ethernet/amazon
linux  linux-6.1.176 drivers/net/ethernet/amd drivers/net/ethernet/aquantia drivers/net/ethernet/cavium
linux  linux-6.1.176 drivers/net/ethernet/freescale drivers/net/ethernet/hisilicon
linux  linux-6.1.176 drivers/net/ethernet/huawei drivers/net/ethernet/intel drivers/net/ethernet/marvell
linux  linux-6.1.176 drivers/net/ethernet/mellanox drivers/net/ethernet/microchip
linux  linux-6.1.176 drivers/net/ethernet/netronome drivers/net/ethernet/pensando
linux  linux-6.1.176 drivers/net/ethernet/stmicro drivers/net/ethernet/ti drivers/pinctrl fs/btrfs
linux  linux-6.1.176 fs/ext4 fs/xfs io_uring ipc kernel lib mm net/core net/ipv4 net/mac80211
linux  linux-6.1.176 net/sched sound/core sound/soc virt
gcc    gcc-12.2.0 gcc/analyzer gcc/config/aarch64 gcc/config/arm gcc/config/i386
gcc    gcc-12.2.0 gcc/config/riscv gcc/config/rs6000 gcc/cp libstdc++-v3/include
llvm   llvm-toolchain-15_15.0.6 llvm/lib/Transforms libcxx/include
go     go src/cmd/compile src/crypto src/encoding src/go src/net src/runtime
rust   rustc-1.63.0-src compiler/rustc_middle compiler/rustc_typeck library/alloc library/core
rust   rustc-1.63.0-src library/std
ghc    ghc-9.0.2 libraries/base libraries/containers
python Python-3.11.2 Lib Objects
torch  pytorch-1.13.1 aten/src/ATen/native torch
ocaml  ocaml-4.13.1 asmcomp stdlib typing
'
code_take='\.(c|h|cc|cpp|cu|cuh|go|rs|hs|py|pyi|ml|mli|def|sh|pl|pm|s|S)$'
code_leave='/(tests?|testsuite|testdata|testing|unittests|selftests|generated|ensurepip|idle_test|po)/|_test\.go$|^code/linux/drivers/gpu/drm/amd/include/'
code_sha256=6e856fa4c05170639e95ad5e529d51b1c38d0f40e0d96474c5d5976800cd7f03

prose_paths='
linux  linux-6.1.176 Documentation
llvm   llvm-toolchain-15_15.0.6 clang/docs clang-tools-extra/docs flang/docs libcxx/docs lld/docs
llvm   llvm-toolchain-15_15.0.6 lldb/docs llvm/docs mlir/docs openmp/docs
python Python-3.11.2 Doc Misc
rust   rustc-1.63.0-src src/doc
torch  pytorch-1.13.1 docs
'
prose_take='\.(rst|md|txt)$'
prose_leave='/(translations|includes?|locale|test|tests)/|requirements[^/]*\.txt$|CMakeLists\.txt$'
prose_sha256=04fe7ccc5992e112d0dc189c273502c82216d1bca75d4f347e59617a81dce33a

kinds=(code prose)

# ---- arguments

out='' mirror='' wanted=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --out | --mirror) [[ ${2-} && $2 != -* ]] || refuse "$1: expected a value; see --help" ;;&
    --out) out=$2; shift 2 ;;
    --mirror) mirror=$2; shift 2 ;;
    *)
      [[ " ${kinds[*]} " == *" $1 "* ]] || { usage >&2; refuse "expected ${kinds[*]} or an option, got '$1'"; }
      wanted+=("$1"); shift ;;
  esac
done
((${#wanted[@]})) || wanted=("${kinds[@]}")
[[ -z $mirror || $mirror == *://* ]] || refuse "--mirror: expected a URL, got '$mirror'"

missing=()
for tool in awk find grep gzip sha256sum sort tar xargs xz; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
if ! command -v curl >/dev/null && ! command -v wget >/dev/null; then missing+=('curl or wget'); fi
((${#missing[@]} == 0)) || refuse "expected on PATH: ${missing[*]}; got none"
tar --version | grep -q 'GNU tar' || refuse 'expected GNU tar, whose order and headers are fixed, got another'

[[ $out ]] || out=$(dirname "$(readlink -f "$0")")/../build/text
mkdir -p "$out/packages" || refuse "--out: expected a folder that can be made, got '$out'"
out=$(readlink -f "$out")
stage=$(mktemp -d "$out/text.tmp-XXXXXX")
pid=
end() {
  local status=$?
  trap '' INT TERM HUP
  if [[ $pid ]]; then
    kill -KILL -- "-$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  rm -rf "$stage"
  exit "$status"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# apart COMMAND...: in the background, so that a signal need not wait for it.
apart() {
  local status=0
  "$@" </dev/null &
  pid=$!
  wait "$pid" || status=$?
  pid=
  return "$status"
}

# ---- packages

is_of_hash() { [[ $(sha256sum <"$1") == "$2 "* ]]; }  # FILE SHA-256

# The archive that apt has Debian from.
own_mirror() {
  apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 == "Debian" && !n++ {print $3}' || true
}

download() {  # URL FILE
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 --connect-timeout 30 --speed-limit 1000 --speed-time 60 -o "$2" "$1"
  else
    wget -q --tries=3 --timeout=60 -O "$2" "$1"
  fi
}

# fetch NAME: its package into $out/packages, unless it is there.
fetch() {
  local sha256 path file
  read -r sha256 path < <(awk -v name="$1" '$1 == name {print $2, $3}' <<<"$packages")
  file=$out/packages/${path##*/}
  if [[ -e $file ]]; then
    if is_of_hash "$file" "$sha256"; then return; fi
    say "${path##*/} is not what it should be: fetched again"
    rm -f "$file"
  fi
  if [[ ! $mirror ]]; then
    mirror=$(own_mirror)
    [[ $mirror == http*://* ]] ||
      refuse "expected an archive of Debian that apt here has by http, got '${mirror:-none}'; --mirror URL names one"
  fi
  say "fetching ${path##*/}"
  apart download "${mirror%/}/pool/main/$path" "$stage/download" ||
    stop 1 "expected ${path##*/} at ${mirror%/}/pool/main/${path%/*}, could not fetch it. If the archive has" \
      "dropped this version, give --mirror a URL of Debian's snapshot archive, which keeps all versions"
  is_of_hash "$stage/download" "$sha256" ||
    stop 1 "expected ${path##*/} with the SHA-256 $sha256, got $(sha256sum <"$stage/download" | cut -c 1-64)"
  mv "$stage/download" "$file"
}

# unpack NAME TOP FOLDER PATH...: these paths below TOP of a package, into a folder.
unpack() {
  local file
  file=$out/packages/$(awk -v name="$1" '$1 == name {n = split($3, part, "/"); print part[n]}' <<<"$packages")
  mkdir -p "$3"
  {
    case $1 in
      gcc) tar -xzf "$file" -O gcc-12-12.2.0/gcc-12.2.0-dfsg.tar.xz | xz -dc ;;  # a tar in a tar
      *) case $file in *.xz) xz -dc "$file" ;; *) gzip -dc "$file" ;; esac ;;
    esac
  } | tar -xf - -C "$3" --strip-components=1 --no-same-owner --no-same-permissions "${@:4}"
}

# ---- choice

# Reads names of files, prints the names of files that look written by hand: not marked as
# generated, median line up to 120 bytes and no line over 2000, under a fifth hexadecimal numbers.
written_by_hand() {
  xargs -d '\n' awk '
    function finish(   half, length_) {
      if (name == "") return
      half = (lines + 1) / 2
      for (length_ = 0; length_ <= 120 && half > 0; ++length_) half -= count[length_]
      if (half <= 0 && !is_left) print name
    }
    FNR == 1 { finish(); name = FILENAME; lines = bytes = hex = is_left = 0; split("", count) }
    {
      n = length($0)
      ++lines
      ++count[n]
      bytes += n + 1
      if (n > 2000) is_left = 1
      if (FNR <= 30 && tolower($0) ~ /do not edit|do not modify|auto-?generated|automatically generated|generated (by|from|automatically)/) is_left = 1
      if (/0[xX]/) hex += 8 * gsub(/0[xX][0-9a-fA-F]+/, "")
      if (hex * 5 > bytes && bytes > 2000) is_left = 1
    }
    END { finish() }'
}

# without OPTION... PATTERN: reads names of files, prints those where grep finds nothing.
without() {
  xargs -d '\n' bash -c 'grep -L "$@" || (($? == 1))' grep "$@"  # 1: of these files none is printed
}

# choose KIND: the names of its files in this folder, in order.
choose() {
  local take=$1_take leave=$1_leave
  find "$1" -type f -size +255c -size -262145c | LC_ALL=C sort |
    LC_ALL=C grep -E '^[A-Za-z0-9._+/-]+$' | grep -E "${!take}" | grep -vE "${!leave}" |
    LC_ALL=C.UTF-8 without -avxE '.*' |  # no line that is not UTF-8
    LC_ALL=C without -aP '\x00' |
    LC_ALL=C written_by_hand | xargs -d '\n' sha256sum | awk '!seen[$1]++ {print $2}'
}

# ---- archives

report() {  # KIND: of its finished archive, the last line
  local archive=$out/$1.tar.xz
  xz -dc "$archive" | tar -tvf - | awk -v kind="$1" -v packed="$(stat -c %s "$archive")" -v sha256="$2" \
    '{bytes += $3} END {printf "%-5s %6d files %7.1f MB, packed %5.1f MiB, sha256 %s\n", kind, NR, bytes / 1e6, packed / 1048576, sha256}'
}

pack() { xz -T1 --lzma2=preset=9e,dict=192MiB,lc=4,pb=0 -c "$1" >"$2"; }

make() {  # KIND
  local kind=$1 paths=$1_paths expected=$1_sha256 archive=$out/$1.tar.xz sha256 name top list
  if [[ -e $archive ]]; then
    if sha256=$(xz -dc "$archive" 2>/dev/null | sha256sum) && [[ $sha256 == "${!expected} "* ]]; then
      say "$kind: ${archive##*/} is there"
      report "$kind" "${!expected}"
      return
    fi
    say "$kind: ${archive##*/} is not what it should be: made again"
  fi
  for name in $(awk '!seen[$1]++ {print $1}' <<<"${!paths}"); do fetch "$name"; done
  while read -r name top list; do
    [[ $name ]] || continue
    read -ra list <<<"$list"
    say "$kind: unpacking $name"
    list=("${list[@]/#/$top/}")
    apart unpack "$name" "$top" "$stage/$kind/$name" "${list[@]%/.}" ||
      stop 1 "expected $name to hold ${list[*]}, got another package"
  done < <(awk 'NF {if (!($1 in paths)) order[++n] = $1
      top[$1] = $2
      for (i = 3; i <= NF; ++i) paths[$1] = paths[$1] " " $i}
    END {for (i = 1; i <= n; ++i) print order[i], top[order[i]] paths[order[i]]}' <<<"${!paths}")
  cd "$stage"
  say "$kind: choosing files"
  apart choose "$kind" >"$stage/names"
  say "$kind: packing $(wc -l <"$stage/names") files"
  apart tar --format=ustar --no-recursion --hard-dereference --mtime=@0 --owner=0 --group=0 \
    --numeric-owner --mode=0644 -cf "$stage/$kind.tar" -T "$stage/names"
  sha256=$(sha256sum <"$stage/$kind.tar" | cut -c 1-64)
  [[ $sha256 == "${!expected}" ]] ||
    stop 1 "$kind: expected a tar with the SHA-256 ${!expected}, got $sha256 ($(wc -l <"$stage/names") files," \
      "$(stat -c %s "$stage/$kind.tar") bytes); the packages are the right ones, so tar, grep or awk here differ"
  apart pack "$stage/$kind.tar" "$stage/$kind.tar.xz" || stop 1 "$kind: xz failed; is there room in $out?"
  mv "$stage/$kind.tar.xz" "$archive"
  rm -rf "${stage:?}/$kind" "$stage/$kind.tar"
  report "$kind" "$sha256"
}

for kind in "${wanted[@]}"; do make "$kind"; done
