#!/usr/bin/env bash
# The system packages that ./check and ./demo need, and how to install them. Both source this file.
# As a program, packages.sh [build | check | full | arm64]... installs the named lists (default: build).

# To build and run everything, and to test it; what each is for: third_party/README.md
build_packages=(
  g++ cmake ninja-build ccache git
  libeigen3-dev libdnnl-dev libboost-program-options-dev libboost-test-dev libboost-context-dev
  libopenmpi-dev openmpi-bin
  nlohmann-json3-dev libzstd-dev zlib1g-dev libutf8proc-dev libxxhash-dev gnuplot-nox
)
check_packages=(clang-format xz-utils)
full_packages=(clang slurm-wlm munge debootstrap)
# To build for arm64 elsewhere and to run that; and the libraries that arm64_sysroot.sh unpacks for it:
# third_party/README.md, "arm64"
arm64_packages=(g++-aarch64-linux-gnu qemu-user)
arm64_libraries=(
  libeigen3-dev libboost-program-options-dev libboost-test-dev
  nlohmann-json3-dev libzstd-dev zlib1g-dev libutf8proc-dev libxxhash-dev
)

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# need_packages NAME...: installs missing packages, as root or through a sudo without a password;
# otherwise prints the command to run and exits with status 2.
need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "packages: this is not Debian or Ubuntu, so nothing is installed; continuing with what is installed" >&2
    return 0
  fi
  local package missing=() as_root=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local line="apt-get install -y --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      echo "packages: missing: ${missing[*]}" >&2
      echo "packages: run this as root, then start again:" >&2
      echo "  apt-get update && $line" >&2
      exit 2
    fi
  fi
  echo "packages: installing ${missing[*]}"
  local log
  log=$(mktemp)
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  # A stale package index is only a warning here: what counts is whether the install works.
  "${as_root[@]}" apt-get -o Acquire::Retries=3 -q update </dev/null >"$log" 2>&1 ||
    echo "packages: apt-get update failed; trying with the index as it is" >&2
  if ! "${as_root[@]}" apt-get -o Acquire::Retries=3 -q install -y --no-install-recommends \
      "${missing[@]}" </dev/null >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    rm -f "$log"
    echo "packages: expected apt-get to install ${missing[*]}; by hand: $line" >&2
    exit 2
  fi
  rm -f "$log"
}

# As many compilers at once as there are processors, and 1.5 GiB of memory for each.
job_count() {
  local jobs gib
  jobs=$(nproc)
  gib=$(awk '/^MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  ((gib < jobs)) && jobs=$gib
  echo $((jobs < 1 ? 1 : jobs))
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  wanted=()
  for list in "${@:-build}"; do
    case $list in
      build) wanted+=("${build_packages[@]}") ;;
      check) wanted+=("${check_packages[@]}") ;;
      full) wanted+=("${full_packages[@]}") ;;
      arm64) wanted+=("${arm64_packages[@]}") ;;
      *) echo "packages: expected build, check, full or arm64, got '$list'" >&2; exit 2 ;;
    esac
  done
  need_packages "${wanted[@]}"
fi
