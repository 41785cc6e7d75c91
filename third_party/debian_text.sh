#!/usr/bin/env bash
# Makes large text corpora from Debian's packages: third_party/debian_text.sh --help
set -euo pipefail
set -m  # what runs long is a process group of its own, so that Ctrl-C ends all of it

usage() {
  cat <<'TEXT'
usage: third_party/debian_text.sh [code|prose|latex ...] [--out FOLDER] [--mirror URL]

Makes text corpora from a fixed list of packages of Debian 12 (bookworm, as of 12.15). The corpora
have the same hash on every machine. For each kind the script writes FOLDER/KIND.tar.xz, which holds
the chosen files in a folder KIND/.
To use one:  tar -xJf code.tar.xz && prepare --input code ...  (each file is a document)
Without xz:  python3 -m tarfile -e code.tar.xz

  code   C, C++, Go, Rust, Haskell, Python and OCaml, from Linux (a bit over half), GCC, LLVM, Go,
         rustc, GHC's libraries, CPython, PyTorch and OCaml: 275 MB, some 106 million tokens of GPT-NeoX,
         packed 35 MiB
  prose  documentation of Linux, LLVM, CPython, Rust and PyTorch (reStructuredText, Markdown and plain
         text): 52 MB, some 14 million tokens, packed 10 MiB
  latex  manuals, books, course notes, examples and literate programs in LaTeX and TeX (.tex, .ltx, .dtx,
         .nw, .verb), out of TeX Live's documentation, gretl's, and the sources of 31 programs, such as
         HOL, PARI, Giac, Trilinos, SPOOLES, GLPK and noweb. Most of it is English; some is German, Spanish,
         Czech or another language. 71 MB, some 24 million tokens, packed 12 MiB

  --out FOLDER  folder of the archives; FOLDER/packages keeps the downloads (default: build/text)
  --mirror URL  a Debian archive, up to the folder that holds `pool` (default: the archive that apt on
                this machine is configured for)
  --help        print this help

Left out are tests, generated and binary files, files that are not UTF-8, tables of hexadecimal
numbers, files with very long lines, files under 256 bytes or over 256 KiB (latex: 2 MiB), and all but
the first of equal files.

A finished archive is not made again, and existing packages are not downloaded again. From scratch,
code needs 0.5 GB of downloads, 10 minutes, 1.5 GB of disk and 2.5 GB of memory; latex needs 1.1 GB of
downloads. The bytes of the .xz may differ between versions of xz; the script checks the SHA-256 of
the tar inside.

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
# of July 2026 has all of these; an update of linux would replace that one. The text of TeX
# Live and gretl comes from binary packages (.deb): TeX Live's sources take 3.5 GB.
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

pictures-doc          9f24a348a9461952e09cac3a2c5e1617f00e9054bea1ab1a124a724cc7f40751 t/texlive-base/texlive-pictures-doc_2022.20230122-3_all.deb
science-doc           0e0fcc74646b916402124e8394a7a8d896e1c959cd9b184b0d7a61e08c6e72db t/texlive-extra/texlive-science-doc_2022.20230122-4_all.deb
latex-base-doc        122dbbe00bd22f872b1837eb86bd76fbac6ec84dd4f5f0c76cc9c18484485848 t/texlive-base/texlive-latex-base-doc_2022.20230122-3_all.deb
latex-recommended-doc 8bea1f81bf50354fa4f3046c2dbb82efba9b8520aca0b2ab12eed18554a66c11 t/texlive-base/texlive-latex-recommended-doc_2022.20230122-3_all.deb
humanities-doc        b9ff3e33bfad812999000ae009d701d867701afad144433c36a78322f3d88e33 t/texlive-extra/texlive-humanities-doc_2022.20230122-4_all.deb
luatex                b1fb9e0dd2bc7e164cb86b3f3787b47fe1bcf401fce24451ba4719c26732ed76 t/texlive-base/texlive-luatex_2022.20230122-3_all.deb
xetex                 93523df2721fe81ff3c559e83b5a8be72771ee939cde32ed7da8a130cb515206 t/texlive-base/texlive-xetex_2022.20230122-3_all.deb
formats-extra         375eb1406ad0bbdf783f9d161f4ae3aa5654786eb8ac8e7c53a1b017a41d4623 t/texlive-extra/texlive-formats-extra_2022.20230122-4_all.deb
lang-german           52b567e7485f66f39deb0fc0a1a8a7006f121b6c2cf2a751bd5475969e20cf1d t/texlive-lang/texlive-lang-german_2022.20230122-1_all.deb
lang-european         9097ae9d22e8818da28ee7c6184368b6f8a7f168e758f24186184b3ec0f2e62c t/texlive-lang/texlive-lang-european_2022.20230122-1_all.deb
lang-spanish          4fde01b4ace7a5ee173b2b4d0198b61d5f6738fdc89b0a15249d3f3b5d462c8e t/texlive-lang/texlive-lang-spanish_2022.20230122-1_all.deb
lang-czechslovak      11ca0c71d3973bdaf815071358157299401341296d2e3ad32aa2dce6c22ed988 t/texlive-lang/texlive-lang-czechslovak_2022.20230122-1_all.deb
lang-italian          5842664b08be26e948411cb36bf5aecd19e32492cdc303987e3e67cafa971f3e t/texlive-lang/texlive-lang-italian_2022.20230122-1_all.deb
lang-polish           bb61517efab4c261b59ac926485e0e2dbd4c46bf72d24ae9fe2bf8ec2992516a t/texlive-lang/texlive-lang-polish_2022.20230122-1_all.deb
lang-portuguese       0a88a46aafdd8892507b66ef56d5d3e2de3a2b0489640c565bb018f6c26c0521 t/texlive-lang/texlive-lang-portuguese_2022.20230122-1_all.deb
gretl-doc             f69c7e90b11030a30356449ad47913cb78c54872246cadc31c44476e0ba034ae g/gretl/gretl-doc_2022c-1_all.deb
hol88                 8e2a4f83cea20d0cf2416f7d55c951498f6c807b03ebc9381a02fa4c81c5da69 h/hol88/hol88_2.02.19940316dfsg.orig.tar.gz
pari                  b04628111ee22876519a4b1cdafb32febaa34eafa24f9e81f58f8d057fbee0dd p/pari/pari_2.15.2.orig.tar.gz
giac                  c3a3280162f3b0f6682809b3b344a21a7a61d4ae5c1ed0a34140f9d1649b6a2e g/giac/giac_1.9.0.35+dfsg2.orig.tar.xz
trilinos              0ddb47784ba7b8a6b9a07a4822b33be508feb4ccd54301b2a5d10c9e54524b90 t/trilinos/trilinos_13.2.0.orig.tar.gz
spooles               a84559a0e987a1e423055ef4fdf3035d55b65bbe4bf915efaa1a35bef7f8c5dd s/spooles/spooles_2.2.orig.tar.gz
code-saturne          88a8c88e949bbcd878e2511917edd976a1306235aeab0394bee3162754c4128e c/code-saturne/code-saturne_6.0.2.orig.tar.gz
derivations           bf4cc67dadd30b509cf34546bdb5091d3eee7bb68d34115765bd9c4c9eb9c9f2 d/derivations/derivations_0.57.20210107.orig.tar.xz
suitesparse           bb106c43049138c19675cd70322e72ff8e4fd8bdcab3a096307fd78488913faf s/suitesparse/suitesparse_5.12.0+dfsg.orig.tar.xz
glpk                  4a1013eebb50f728fc601bdd833b0b2870333c3b3e5a816eeba921d95bec6f15 g/glpk/glpk_5.0.orig.tar.gz
noweb                 34e3903bce9771345ff392b1998f7877389b66c71b3292834e8aaf448837a7f0 n/noweb/noweb_2.12.orig.tar.gz
python-escript        2947ef99ceab8dad4b0b7fdf5f402a873cce8503e40682115487815a4b2e33af p/python-escript/python-escript_5.6.orig.tar.xz
bergman               6f6ea3ab90a870988199f4db157c03052d45e994c0a84a43cfa372543ad3180f b/bergman/bergman_1.001+dfsg.orig.tar.xz
rheolef               dd49f3580b97e01409c4532c54886e901814e82e9ec4e89751fd62aacd946852 r/rheolef/rheolef_7.2.orig.tar.gz
scotch                09b582e75df3cf91313e8dd83306bc9d59385fa358d6d4052e5bbf8c75a83348 s/scotch/scotch_7.0.3.orig.tar.xz
yosys                 ec982a9393b3217deecfbd3cf9a64109b85310a949e46a51cf2e07fba1071aeb y/yosys/yosys_0.23.orig.tar.gz
hmmer                 32913d564890c0eac5a95af9cc0a4284e612138be4754212db316fff1d379803 h/hmmer/hmmer_3.3.2+dfsg.orig.tar.xz
minlog                a0dee50fce2956024a4feedc6154d8a5d9714d91cf134bf48e240c17936b7b23 m/minlog/minlog_4.0.99.20100221.orig.tar.gz
gprolog               348a7df6d84c7f0fd68fa8c35a1df6334195fa6a9bbfe82d4fb6d29b43100c24 g/gprolog/gprolog_1.4.5.0.orig.tar.gz
mrbayes               3eed2e3b1d9e46f265b6067a502a89732b6f430585d258b886e008e846ecc5c6 m/mrbayes/mrbayes_3.2.7a.orig.tar.gz
gri                   4da5e4e041073b85ae35e48f9dcc3a4fa5c14317941e8285a66b647449251e47 g/gri/gri_2.12.27.orig.tar.gz
scheme48              9c4921a90e95daee067cd2e9cc0ffe09e118f4da01c0c0198e577c4f47759df4 s/scheme48/scheme48_1.9.2.orig.tar.gz
libtomcrypt           96ad4c3b8336050993c5bc2cf6c057484f2b0f9f763448151567fbab5e767b84 libt/libtomcrypt/libtomcrypt_1.18.2.orig.tar.xz
libtommath            b7c75eecf680219484055fcedd686064409254ae44bc31a96c5032843c0e18b1 libt/libtommath/libtommath_1.2.0.orig.tar.xz
hevea                 5d6759d7702a295c76a12c1b2a1a16754ab0ec1ffed73fc9d0b138b41e720648 h/hevea/hevea_2.36.orig.tar.gz
haskell98-report      939150029935259f918460f0d6b06033917404f41d82413b600e0cc4213d188e h/haskell98-report/haskell98-report_20080907.orig.tar.gz
coinor-dylp           185f0b600a418a0c5c8ad076a3c7b045876ec0b4d14bbd9b2e224f79826d935b c/coinor-dylp/coinor-dylp_1.10.4.orig.tar.gz
oasis3                c18112f632876c8be7bf5c70991aa1016f37cb15d0e79f570c9481412f66272a o/oasis3/oasis3_3.mct+dfsg.121022.orig.tar.xz
menhir                f72379b0600e3536d80ae1ea9e765f1caca4e7c8d111fd3023bc0d49f50329ad m/menhir/menhir_20220210+ds.orig.tar.xz
coq                   d9cee0ee2889ad2ef3be6bcbedff6aadd14afe861c81d427b34c6be56c677cb3 c/coq/coq_8.16.1+dfsg.orig.tar.xz
oaklisp               1cb243d57bbb7638a6a5af6bb47bda39af4011562106f57bd183d83fb5dab0a3 o/oaklisp/oaklisp_1.3.7.orig.tar.gz
swi-prolog            30d653484cbc8079a1cd74ad88b67cc4df2a955c6751e691d3f2b0062e347fa3 s/swi-prolog/swi-prolog_9.0.4+dfsg.orig.tar.gz
'

# For each kind, lines of: package, the folder that it unpacks to (-: none), files and folders in it; a
# * stands for any characters, / too. Similar texts stand together: xz then packs 8 bytes into one, and
# a corpus fits into 36 MiB.
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

latex_paths='
pictures-doc          . usr/share/doc/*.tex usr/share/doc/*.tex.gz usr/share/doc/*.ltx usr/share/doc/*.dtx.gz
science-doc           . usr/share/doc/*.tex usr/share/doc/*.tex.gz
latex-base-doc        . usr/share/doc/*.tex usr/share/doc/*.tex.gz usr/share/doc/*.ltx usr/share/doc/*.dtx.gz
latex-recommended-doc . usr/share/doc/*.tex usr/share/doc/*.tex.gz usr/share/doc/*.ltx usr/share/doc/*.ltx.gz
humanities-doc        . usr/share/doc/*.tex usr/share/doc/*.tex.gz usr/share/doc/*.ltx usr/share/doc/*.dtx.gz
luatex                . usr/share/doc/*.tex usr/share/doc/*.tex.gz usr/share/doc/*.ltx
xetex                 . usr/share/doc/*.tex usr/share/doc/*.tex.gz
formats-extra         . usr/share/doc/*.tex usr/share/doc/*.tex.gz
lang-german           . usr/share/doc/*.tex usr/share/doc/*.tex.gz usr/share/doc/*.ltx usr/share/doc/*.dtx.gz
lang-european         . usr/share/doc/*.tex usr/share/doc/*.tex.gz
lang-spanish          . usr/share/doc/*.tex usr/share/doc/*.tex.gz
lang-czechslovak      . usr/share/doc/*.tex usr/share/doc/*.tex.gz
lang-italian          . usr/share/doc/*.tex usr/share/doc/*.tex.gz
lang-polish           . usr/share/doc/*.tex usr/share/doc/*.tex.gz
lang-portuguese       . usr/share/doc/*.tex usr/share/doc/*.tex.gz
gretl-doc             . usr/share/doc/*.tex usr/share/doc/*.tex.gz
hol88                 hol88-2.02.19940316dfsg *.tex *.ltx *.nw
pari                  pari-2.15.2 *.tex
giac                  giac-1.9.0 *.tex
trilinos              Trilinos-trilinos-release-13-2-0 *.tex
spooles               - *.tex
code-saturne          code_saturne-6.0.2 *.tex
derivations           derivations-0.57.20210107 *.tex
suitesparse           SuiteSparse-5.12.0 *.tex
glpk                  glpk-5.0 *.tex
noweb                 noweb-2_12 *.tex *.nw
python-escript        python-escript-5.6 *.tex
bergman               bergman1.001 *.tex
rheolef               rheolef-7.2 *.tex
scotch                scotch-7.0.3 *.tex
yosys                 yosys-yosys-0.23 *.tex
hmmer                 hmmer-3.3.2 *.tex
minlog                minlog-4.0.99.20080304 *.tex
gprolog               gprolog-1.4.5 *.tex
mrbayes               MrBayes-3.2.7a *.tex
gri                   gri-2.12.27 *.tex
scheme48              scheme48-1.9.2 *.tex
libtomcrypt           libtomcrypt-1.18.2 *.tex
libtommath            libtommath-1.2.0 *.tex
hevea                 hevea-2.36 *.tex
haskell98-report      haskell98-report-20080907 *.tex *.verb
coinor-dylp           DyLP-1.10.4 *.tex
oasis3                oasis3-3.mct+dfsg.121022 *.tex
menhir                menhir-20220210 *.tex
coq                   coq-8.16.1 *.tex
oaklisp               oaklisp-1.3.7 *.tex
swi-prolog            swipl-9.0.4+dfsg *.tex
'
latex_take='\.(tex|ltx|dtx|nw|verb)$'
latex_leave='/(tests?|testcases|testsuite|check)/|/texinfo\.tex$|/numericplots/src/|/l3news09\.tex$'
latex_sha256=09bdfb6be2a0ea57187860ec3e3bb6eb9c97499952d6504b7470ec32800b05b3

kinds=(code prose latex)

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
for tool in awk dd find grep gzip sha256sum sort tar xargs xz; do
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

# The tar of a binary package, which is an archive of `ar`: 8 bytes, then members, each after a header of
# 60 bytes: the name comes first, the size follows from byte 48.
tar_of_deb() {  # FILE
  local at=8 header size
  while :; do
    header=$(dd if="$1" bs=60 count=1 skip="$at" iflag=skip_bytes status=none) || return
    size=${header:48:10} size=${size%% *}
    [[ $size =~ ^[0-9]+$ ]] || return
    [[ $header != data.tar.xz* ]] || break
    at=$((at + 60 + size + size % 2))
  done
  dd if="$1" bs=64K skip="$((at + 60))" count="$size" iflag=skip_bytes,count_bytes status=none | xz -dc
}

# unpack NAME TOP FOLDER PATH...: these paths of a package, all below TOP, into a folder.
unpack() {
  local file options=(--strip-components=1)
  file=$out/packages/$(awk -v name="$1" '$1 == name {n = split($3, part, "/"); print part[n]}' <<<"$packages")
  mkdir -p "$3"
  [[ $2 != - ]] || options=()
  [[ ${*:4} != *'*'* ]] || options+=(--wildcards)
  {
    case $1 in
      gcc) tar -xzf "$file" -O gcc-12-12.2.0/gcc-12.2.0-dfsg.tar.xz | xz -dc ;;  # a tar in a tar
      *) case $file in *.deb) tar_of_deb "$file" ;; *.xz) xz -dc "$file" ;; *) gzip -dc "$file" ;; esac ;;
    esac
  } | tar -xf - -C "$3" "${options[@]}" --no-same-owner --no-same-permissions "${@:4}" || return
  case $file in *.deb) find "$3" -type f -name '*.gz' -exec gzip -df {} + ;; esac
}

# ---- choice

# written_by_hand MEDIAN LONGEST: reads names of files, prints the names of files that look written by
# hand: not marked as generated, median line and longest line of at most these numbers of bytes, under a
# fifth hexadecimal numbers.
written_by_hand() {
  xargs -d '\n' awk -v median="$1" -v longest="$2" '
    function finish(   half, length_) {
      if (name == "") return
      half = (lines + 1) / 2
      for (length_ = 0; length_ <= median && half > 0; ++length_) half -= count[length_]
      if (half <= 0 && !is_left) print name
    }
    FNR == 1 { finish(); name = FILENAME; lines = bytes = hex = is_left = 0; split("", count) }
    {
      n = length($0)
      ++lines
      ++count[n]
      bytes += n + 1
      if (n > longest) is_left = 1
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
  local take=$1_take leave=$1_leave most=$((256 * 1024)) median=120 longest=2000
  # A manual in LaTeX is long, and some authors put a paragraph on a line.
  if [[ $1 == latex ]]; then most=$((2048 * 1024)) median=5000 longest=5000; fi
  find "$1" -type f -size +255c -size "-$((most + 1))c" | LC_ALL=C sort |
    LC_ALL=C grep -E '^[A-Za-z0-9._+/-]+$' | grep -E "${!take}" | grep -vE "${!leave}" |
    LC_ALL=C.UTF-8 without -avxE '.*' |  # no line that is not UTF-8
    LC_ALL=C without -aP '\x00' |
    LC_ALL=C written_by_hand "$median" "$longest" | xargs -d '\n' sha256sum | awk '!seen[$1]++ {print $2}'
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
    [[ $top == - ]] || list=("${list[@]/#/$top/}")
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
