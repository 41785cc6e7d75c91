#!/usr/bin/env bash
# The libraries for a cross build for arm64: third_party/arm64_sysroot.sh --help
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: third_party/arm64_sysroot.sh [--folder FOLDER] [--mirror URL]

Downloads the libraries that the tests need, built for arm64, and unpacks them into a folder. The preset
cpu-arm64 reads it. The packages are those of this release of Debian or Ubuntu. apt works with lists of
its own there: nothing is installed, and no root is needed. The compiler and its C library are not part
of it: they are the package g++-aarch64-linux-gnu (third_party/packages.sh arm64).

  --folder FOLDER  where to (default: build/arm64-sysroot); a complete one is not made again
  --mirror URL     an archive with packages for arm64 (default: the one that apt on this machine is
                   configured for; for Ubuntu http://ports.ubuntu.com/ubuntu-ports)
  --help           print this help

Exit status: 0 done, 1 failed (a download, an archive), 2 usage error or something missing.
TEXT
}

stop() {  # STATUS WORD...
  echo "arm64_sysroot: ${*:2}" >&2
  exit "$1"
}

tree=$(dirname "$(dirname "$(readlink -f "$0")")")
source "$tree/third_party/packages.sh"

folder=$tree/build/arm64-sysroot mirror=''
while (($#)); do
  case $1 in
    --folder | --mirror) [[ ${2-} && $2 != -* ]] || stop 2 "$1: expected a value; see --help" ;;&
    --folder) folder=$2; shift 2 ;;
    --mirror) mirror=$2; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; stop 2 "unknown argument '$1'" ;;
  esac
done

for program in apt-get dpkg-deb; do
  command -v "$program" >/dev/null || stop 2 "expected Debian or Ubuntu, which have $program, got none"
done
source /etc/os-release
case ${ID-} in
  debian) key=debian-archive-keyring components='main' ;;
  ubuntu) key=ubuntu-archive-keyring components='main universe' ;;
  *) stop 2 "expected Debian or Ubuntu, got '${ID-}'" ;;
esac
key=/usr/share/keyrings/$key.gpg
[[ -r $key ]] || stop 2 "expected the archive's key $key, got none"
[[ ${VERSION_CODENAME-} ]] || stop 2 'expected a release with a name in /etc/os-release, got none'
if [[ ! $mirror && $ID == debian ]]; then  # lines "Debian Debian bookworm URL": origin, label, name
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(CODENAME) $(REPO_URI)' \
    'Created-By: Packages' 2>/dev/null |
    awk -v name="$VERSION_CODENAME" '$1 == "Debian" && $2 == "Debian" && $3 == name {print $4; exit}')
  mirror=${mirror:-http://deb.debian.org/debian}
fi
mirror=${mirror:-http://ports.ubuntu.com/ubuntu-ports}

# What the folder holds, in its file `made-of`, which is written last.
made_of="$VERSION_CODENAME: ${arm64_libraries[*]}"
if [[ -f $folder/made-of && $(<"$folder/made-of") == "$made_of" ]]; then
  echo "arm64_sysroot: $folder is there already"
  exit 0
fi
[[ ! -e $folder || -f $folder/made-of || -d $folder && -z $(ls -A "$folder") ]] ||
  stop 2 "--folder: expected an empty folder, none, or one of an earlier run, got '$folder'"

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
[[ $work != *[[:space:]\"]* ]] || stop 2 "--folder: expected a path without blanks, got '$folder'"
mkdir -p "$work"/{lists,archives}/partial "$work/packages" "$work/root/usr/lib"
ln -s usr/lib "$work/root/lib"  # merged, as in the packages' own systems
: >"$work/status"
echo "deb [arch=arm64 signed-by=$key] $mirror $VERSION_CODENAME $components" >"$work/sources.list"
cat >"$work/apt.conf" <<TEXT
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$work";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
TEXT
export APT_CONFIG=$work/apt.conf

# Some versions of apt end with status 0 without any list.
if ! apt-get -q -o APT::Update::Error-Mode=any update >"$work/log" 2>&1 </dev/null; then
  tail -n 5 "$work/log" >&2
  stop 1 "expected the lists of $mirror ($VERSION_CODENAME, arm64), got none; offline, or see --mirror"
fi
if ! apt-get -s install --no-install-recommends "${arm64_libraries[@]}" >"$work/plan" 2>&1; then
  tail -n 10 "$work/plan" >&2
  stop 1 "expected $mirror to have ${arm64_libraries[*]} for arm64"
fi
# Of what these depend on, the libraries: the C library and the compiler's come with the compiler.
mapfile -t packages < <(awk '
  $1 == "Inst" && $2 ~ /^(libboost|libeigen|libutf8proc|libxxhash|libzstd|nlohmann|zlib)/ {print $2}' \
  "$work/plan")
if ! (cd "$work/packages" && apt-get -q download "${packages[@]}") >"$work/log" 2>&1 </dev/null; then
  tail -n 10 "$work/log" >&2
  stop 1 "expected to download ${packages[*]} from $mirror"
fi
for package in "$work"/packages/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/root" --keep-directory-symlink \
    --no-same-owner --exclude='./usr/share/doc*' --exclude='./usr/share/man*'
done
# Links that name a file from / name it from the folder.
find "$work/root" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  target=$work/root$(readlink "$link")
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$target")" "$link"
done
echo "$made_of" >"$work/root/made-of"
rm -rf "$folder"
mv "$work/root" "$folder"
echo "arm64_sysroot: ${#packages[@]} packages of $VERSION_CODENAME in $folder"
