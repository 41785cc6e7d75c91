#!/usr/bin/env bash
# Tests this tree on another Linux system: see usage() below, and CONTRIBUTING.md.
set -euo pipefail
set -m  # commands in the root get their own process group, so that Ctrl-C ends all of them

usage() {
  cat <<'TEXT'
usage: third_party/systems_check.sh [--system NAME] [--only demo|check|bench] [--folder FOLDER]
                                    [--mirror URL] [--keep]

Makes a root of another system with debootstrap, clones the last commit into it, runs ./demo, ./check
and three lines of bench there, prints a table and removes the root. Needs to run as root, some 8 GB
of disk and an hour.

  --system NAME    trixie (Debian 13, the default), bookworm (Debian 12), noble (Ubuntu 24.04), or
                   another name that debootstrap knows; may be repeated to try one after the other
  --only WHAT      run only demo, check or bench; may be repeated
  --folder FOLDER  folder for the root, empty or new (default: a new folder in /var/tmp)
  --mirror URL     an archive of that system (default: the archive that apt on this machine is
                   configured for, if it has the same distribution, else debootstrap's default)
  --keep           keep the root; the last line says where it is
  --help           print this help

The output is in build/systems/NAME-WHAT.log. Exit status: 0 all passed, 1 something failed, 2 usage
error or something missing, 130 interrupted.
TEXT
}

refuse() {
  echo "systems_check: $1" >&2
  exit 2
}

systems=() parts=() folder='' mirror='' keep=false
while (($#)); do
  case $1 in
    --system | --only | --folder | --mirror)
      [[ ${2-} && $2 != -* ]] || refuse "$1: expected a value; see --help" ;;&
    --system)
      [[ $2 =~ ^[a-z]+$ ]] || refuse "--system: expected a name such as trixie, got '$2'"
      systems+=("$2"); shift 2 ;;
    --only)
      [[ $2 == @(demo|check|bench) ]] || refuse "--only: expected demo, check or bench, got '$2'"
      parts+=("$2"); shift 2 ;;
    --folder) folder=$2; shift 2 ;;
    --mirror) mirror=$2; shift 2 ;;
    --keep) keep=true; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; refuse "unknown argument '$1'" ;;
  esac
done
((${#systems[@]})) || systems=(trixie)
((${#parts[@]})) || parts=(demo check bench)

((EUID == 0)) || refuse 'expected to run as root, which debootstrap and chroot need; try: sudo third_party/systems_check.sh'
tree=$(git -C "$(dirname "$(readlink -f "$0")")" rev-parse --show-toplevel 2>/dev/null) ||
  refuse 'expected a git repository, whose last commit is tried, got none'
scripts=${DEBOOTSTRAP_DIR:-/usr/share/debootstrap}/scripts  # where debootstrap itself looks
command -v debootstrap >/dev/null ||
  refuse 'expected debootstrap, got none; apt-get install debootstrap'
for system in "${systems[@]}"; do
  [[ -e $scripts/$system ]] ||
    refuse "--system: debootstrap knows no '$system'; ls $scripts"
done
# Mounts are made in a namespace that ends with its processes: none is ever seen from here, where
# files are removed.
inside=(unshare --mount --propagation private --pid --fork --kill-child=KILL)
"${inside[@]}" true 2>/dev/null ||
  refuse 'expected to be permitted mounts and processes of its own (unshare --mount --pid), was not; a container needs --privileged'
if [[ $folder ]]; then
  [[ ! -e $folder || -d $folder && -z $(ls -A "$folder") ]] ||
    refuse "--folder: expected an empty folder or none, got '$folder'"
  mkdir -p "$folder"
  folder=$(readlink -f "$folder")
  [[ $folder != *[[:space:]]* ]] || refuse "--folder: expected a path without blanks, got '$folder'"
else
  folder=$(mktemp -d /var/tmp/farfield-systems.XXXXXX)
fi

need_kib=$((8 << 20))
root='' pid=''
end() {
  local status=$?
  trap '' INT TERM HUP
  if [[ $pid ]]; then
    kill -KILL -- "-$pid" 2>/dev/null || true  # with the namespace, all that runs in it
    wait "$pid" 2>/dev/null || true
  fi
  if $keep; then
    echo "systems_check: the root is kept in $folder"
  elif grep -qF " $folder/" /proc/self/mountinfo; then  # of somebody else's making
    echo "systems_check: something is mounted under $folder, which stays; umount it, then remove it" >&2
  else
    for system in "${systems[@]}"; do rm -rf --one-file-system "${folder:?}/$system"; done
    rmdir --ignore-fail-on-non-empty "$folder"
  fi
  exit "$status"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

free_kib=$(df --output=avail "$folder" | tail -n 1)
((free_kib >= need_kib)) ||
  refuse "expected $((need_kib >> 20)) GiB free for $folder, got $((free_kib >> 20)); --folder FOLDER on another disk"
logs=$tree/build/systems
mkdir -p "$logs"
[[ -z $(git -C "$tree" status --porcelain) ]] ||
  echo 'systems_check: what is not committed is not tried'

# logged LOG COMMAND...: runs it in the background, so that a signal need not wait for it.
logged() {
  local log=$1 status=0
  shift
  "$@" </dev/null >"$log" 2>&1 &
  pid=$!
  wait "$pid" || status=$?
  pid=
  return "$status"
}

# The archive that apt has a distribution from: lines "Debian Debian URL", origin and label.
own_mirror() {  # DISTRIBUTION
  apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -v name="$1" '$1 == name && $2 == name {print $3; exit}'
}

make_root() {  # SYSTEM
  local components=main distribution=Debian
  if grep -q ubuntu "$scripts/$1"; then
    components=main,universe distribution=Ubuntu
  fi
  local from=${mirror:-$(own_mirror "$distribution")}
  "${inside[@]}" debootstrap --variant=minbase --components="$components" \
    --include=ca-certificates,git "$1" "$root" ${from:+"$from"} &&
    git clone -q --no-hardlinks "$tree" "$root/root/farfield"
}

# in_root COMMAND: in the clone, with nothing of this system's environment but its proxies.
in_root() {
  local proxies=() name
  for name in http_proxy https_proxy no_proxy; do
    [[ ${!name-} ]] && proxies+=("$name=${!name}")
  done
  "${inside[@]}" bash -ec '
    root=$1 command=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    if [[ -e /etc/resolv.conf ]]; then cat /etc/resolv.conf >"$root/etc/resolv.conf"; fi
    exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" \
      bash -c "cd /root/farfield && $command"' bash "$root" "$1" "${proxies[@]}"
}

bench_lines='source third_party/packages.sh; need_packages "${build_packages[@]}" &&
  { [[ -e build/cpu/CMakeCache.txt ]] || cmake --preset cpu -DFARFIELD_BUILD_TESTS=OFF; } &&
  cmake --build --preset cpu -j "$(job_count)" --target bench &&
  build/cpu/bin/bench matmul && build/cpu/bin/bench attention && build/cpu/bin/bench step --preset tiny'

failed=0
table=()
row() {
  table+=("$(printf '%-10s %-6s %-8s %6s  %s' "$@")")
  printf '%s\n' "${table[-1]}"
}
row system part result s says
for system in "${systems[@]}"; do
  root=$folder/$system
  begin=$SECONDS
  if ! logged "$logs/$system-root.log" make_root "$system"; then
    tail -n 20 "$logs/$system-root.log" >&2
    row "$system" root FAILED $((SECONDS - begin)) "$logs/$system-root.log"
    failed=1
    continue
  fi
  row "$system" root made $((SECONDS - begin)) "$(. "$root/etc/os-release" && echo "$PRETTY_NAME")"
  for part in "${parts[@]}"; do
    log=$logs/$system-$part.log begin=$SECONDS command=./$part result=passed
    if [[ $part == bench ]]; then command=$bench_lines; fi
    if ! logged "$log" in_root "$command"; then
      result=FAILED failed=1
      tail -n 30 "$log" >&2
    fi
    row "$system" "$part" "$result" $((SECONDS - begin)) "$(tail -n 1 "$log" | cut -c 1-90)"
  done
  if ! $keep; then rm -rf --one-file-system "$root"; fi  # room for the next
done
echo
printf '%s\n' "${table[@]}"
exit "$failed"
